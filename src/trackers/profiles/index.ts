import type { TrackerKind } from "../../core/tracker/servers.ts";
import { ado } from "./ado.ts";
import { github } from "./github.ts";
import { jira } from "./jira.ts";
import { linear } from "./linear.ts";
import type { Profile } from "./profile.ts";

export const profiles: Readonly<Record<TrackerKind, Profile>> = { jira, ado, github, linear };

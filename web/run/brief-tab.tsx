/** What an attempt's agent was told. */
import type { Api, Which } from "../api.ts";
import { Markdown } from "../markdown.tsx";
import { Answer, Quiet } from "./quiet.tsx";

export const BriefTab = ({ api, which }: { api: Api; which: Which }) => (
  <Answer what="the brief" on="" ask={() => api.brief(which)}>
    {({ blocks }) =>
      blocks.length === 0 ? (
        <Quiet>Nothing was kept of what it was told.</Quiet>
      ) : (
        <Markdown blocks={blocks} />
      )
    }
  </Answer>
);

/** Packages that only a fleet needs: found beside us, or the failure says how to have them. */
import { createRequire } from "node:module";
import * as path from "node:path";
import { fail, type Result, succeed } from "../../core/failure.ts";

interface Optional {
  readonly pg: typeof import("pg");
  readonly "@dbos-inc/dbos-sdk": typeof import("@dbos-inc/dbos-sdk");
}

export function optional<Name extends keyof Optional>(name: Name): Result<Optional[Name]> {
  try {
    const require = createRequire(path.join(import.meta.dirname, "optional.js"));
    return succeed(require(name) as Optional[Name]);
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND";
    if (!missing) throw error;
    return fail("engine-missing", "the engine on PostgreSQL needs two packages that are not here", {
      hint: "npm install @dbos-inc/dbos-sdk pg, beside autodev (with -g if autodev was)",
    });
  }
}

import type { Flow } from "../flow.ts";

/** A repository of repositories: discover, have it confirmed, then keep docs and CI in step. */
export const metaRepo: Flow = {
  name: "meta-repo",
  boundaryAfter: ["2"],
  steps: [
    {
      step: "1",
      name: "Discover",
      skill: "monorepo-discover",
      done: { exists: "_repo-config.yaml" },
    },
    {
      step: "2",
      name: "Config Review",
      done: { says: "_repo-config.yaml", text: /^confirmed_by_user:[ \t]*true[ \t]*\r?$/m },
    },
    { step: "3", name: "Status", skill: "monorepo-status" },
    { step: "4", name: "Document Sync", skill: "monorepo-document", conditional: true },
    { step: "5", name: "CICD Sync", skill: "monorepo-cicd", conditional: true },
    { step: "6", name: "Loop" },
  ],
};

import type { Flow } from "../flow.ts";

/** A repository of repositories: discover, have it confirmed, then keep docs and CI in step. */
export const metaRepo: Flow = {
  name: "meta-repo",
  about: "a repository of repositories: their documents and their CI are kept in step",
  suite: true,
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
      confirms: { file: "_repo-config.yaml", line: "confirmed_by_user: true" },
      done: { file: "_repo-config.yaml", says: "^confirmed_by_user:[ \\t]*true[ \\t]*\\r?$" },
    },
    { step: "3", name: "Status", skill: "monorepo-status" },
    {
      step: "4",
      name: "Document Sync",
      skill: "monorepo-document",
      applies: {
        yes: { reported: "document-drift" },
        no: { no: { reported: "document-drift" } },
        question: "have the documents drifted?",
      },
    },
    {
      step: "5",
      name: "CICD Sync",
      skill: "monorepo-cicd",
      applies: {
        yes: { reported: "cicd-drift" },
        no: { no: { reported: "cicd-drift" } },
        question: "has CI drifted?",
      },
    },
    { step: "6", name: "Loop", rests: true, then: { step: "3" } },
  ],
};

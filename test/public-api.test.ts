import { describe, expect, it } from "vitest";
import * as core from "../src/core/index.ts";
import * as library from "../src/index.ts";
import * as fleet from "../src/project/fleet.ts";
import * as testing from "../src/testing/index.ts";

/** What others build on: a name that goes is a breaking change, and is seen here first. */
describe("the public names", () => {
  it("of autodev are these", () => {
    const own = Object.keys(library).filter((name) => !(name in core));
    expect(own.sort()).toEqual([
      "EventSchema",
      "buildPlan",
      "changePlan",
      "createFileStore",
      "createLocalEngine",
      "createMemoryStore",
      "hold",
      "look",
      "openPlan",
      "openProject",
      "planDisk",
      "realWorld",
    ]);
  });

  it("of autodev/engines/postgres are these", () => {
    expect(Object.keys(fleet).sort()).toMatchInlineSnapshot(`
      [
        "answerIn",
        "answerRun",
        "createPostgresEngine",
        "findRunRow",
        "fleetTold",
        "keptTranscripts",
        "limitAgent",
        "migrateEngine",
        "openFleet",
        "pauseIn",
        "protocol",
        "retryIn",
        "runWorker",
        "seeFleet",
        "stopIn",
        "submitFlow",
        "submitPlan",
        "watchRun",
      ]
    `);
  });

  it("of autodev/core are these", () => {
    expect(Object.keys(core).sort()).toMatchInlineSnapshot(`
      [
        "afterStep",
        "applyEdits",
        "awaitingInvocation",
        "batchesIn",
        "batchesOf",
        "blankBoard",
        "blockers",
        "builtInFlows",
        "causeOf",
        "compilePlan",
        "convertStateFile",
        "count",
        "criticalPathOf",
        "currentForm",
        "currentRun",
        "currentRuns",
        "cyclesOf",
        "datedIn",
        "decisionBlock",
        "decisionId",
        "effects",
        "evolve",
        "evolveBoard",
        "evolveRun",
        "fail",
        "flowNamed",
        "flowStateAt",
        "flowsThatFit",
        "fromGeneration1",
        "fromGeneration2",
        "generationTable",
        "globOf",
        "holds",
        "isAnswer",
        "isComplete",
        "isOpen",
        "isRetryable",
        "keyDecisionLine",
        "knownStatuses",
        "mostRetries",
        "nextMoves",
        "normaliseId",
        "nothingYet",
        "openDecisions",
        "openingMove",
        "optionFor",
        "parseStateFile",
        "phaseNamed",
        "phaseOf",
        "phaseStatuses",
        "planEdits",
        "planFindingTable",
        "planFormatTable",
        "planFormats",
        "readPosition",
        "renderStateFile",
        "renderedStateFile",
        "runOn",
        "runPlan",
        "runsOn",
        "scanPosition",
        "sizesWanted",
        "standingOf",
        "stepIn",
        "stepsOf",
        "stretchOf",
        "succeed",
        "textOf",
        "textsWanted",
        "toGeneration",
        "understand",
        "unwatched",
        "viewRun",
        "watchEvents",
        "watchNews",
        "whereabouts",
        "withAnswers",
        "writeSuperplan",
      ]
    `);
  });

  it("of autodev/testing are these", () => {
    expect(Object.keys(testing)).toEqual([
      "agentContract",
      "engineContract",
      "storeContract",
      "trackerContract",
    ]);
  });
});

/** What happened, as a sentence; other people's words are in it: to be made safe before it is shown. */
import { spendWords } from "./amounts.ts";
import type { RecordedEvent } from "./event.ts";

export function sentence(event: RecordedEvent): string {
  switch (event.type) {
    case "state-file-adopted": {
      const how = {
        created: "created",
        imported: "found and taken over",
        "hand-edit": "edited by hand and taken over",
        "came-with-git": "replaced by git and taken over",
        migrated: `migrated to generation ${event.generation}`,
        renamed: "renamed",
      }[event.why];
      const { flow, step, name, status } = event.state;
      return `${event.path} ${how}: ${flow}, step ${step} ${name}, ${status}`;
    }
    case "step-entered":
      return `${event.flow} stands before step ${event.step} ${event.name}`;
    case "step-started":
      return `step ${event.step} ${event.name} started`;
    case "sub-step-reported": {
      const { phase, name, detail } = event.subStep;
      return `sub-step ${phase} ${name}${detail ? `: ${detail}` : ""}`;
    }
    case "step-committed":
      return event.commit === undefined
        ? `step ${event.step} is in no commit: ${event.why ?? ""}`
        : `step ${event.step} committed as ${event.commit.slice(0, 7)}`;
    case "step-reopened":
      return `step ${event.step} ${event.name} is done once more (${event.how})`;
    case "step-aborted":
      return `left as it is: ${event.reason}`;
    case "rollback-chosen":
      return `step ${event.step} ${event.name} is to be rolled back`;
    case "steps-excused":
      return event.steps.length > 0
        ? `goes on without what step ${event.steps.join(", ")} leaves`
        : "goes on here";
    case "sub-step-skipped":
      return `sub-step left out; ${event.next.phase} ${event.next.name} is next`;
    case "skill-started": {
      const mode = event.mode === undefined ? "" : ` (${event.mode})`;
      return `${event.agent} works by the skill ${event.skill}${mode}, session ${event.session}`;
    }
    case "skill-session-opened":
      return `session ${event.session} opened${event.model === undefined ? "" : ` with ${event.model}`}`;
    case "skill-usage-counted":
      return `session ${event.session}: used ${spendWords(event)}`;
    case "skill-ended":
      return `session ${event.session} ended: ${event.how}${event.reason === undefined ? "" : `, ${event.reason}`}`;
    case "batch-reported":
      return `batch ${event.number}: ${event.tasks.map(({ task, result }) => `${task} ${result}`).join(", ")}`;
    case "tasks-ran":
      return `the tasks ran: ${event.how}${event.trouble === undefined ? "" : `, ${event.trouble}`}`;
    case "step-retried":
      return `failed and retried: ${event.reason}`;
    case "step-failed":
      return `failed for good: ${event.blocker}`;
    case "step-completed":
      return `completed: ${event.outcome}`;
    case "step-skipped":
      return `skipped: ${event.reason}`;
    case "status-set":
      return `status set to ${event.status}`;
    case "session-ended":
      return `session ended (${event.reason}): ${event.notes}`;
    case "blocker-raised":
      return `blocked: ${event.text}`;
    case "blocker-cleared":
      return `no longer blocked: ${event.text}`;
    case "tracker-chosen":
      return `tracker: ${event.tracker}${event.why === undefined ? "" : ` (${event.why})`}`;
    case "tracker-opened":
      return `tracker ${event.server} answers, and somebody is logged in`;
    case "tracker-refused":
      return `tracker ${event.server} cannot be used: ${event.why}`;
    case "effect-intended":
      return `about to ${event.does} ${event.kind} ${event.of} (${event.key})`;
    case "effect-receipted":
      return `${event.kind} ${event.of} is ${event.id}${event.does === "create" ? "" : `: ${event.does} done`}`;
    case "effect-deferred":
      return `${event.kind} ${event.of} is left for later: ${event.why}`;
    case "step-tracked":
      return `step ${event.step} is in the tracker ${event.tracker}: ${event.created} created, ${event.pending} pending`;
    case "sections-chosen":
      return `the state file tells ${event.sections === "full" ? "its whole history" : "only the position"}`;
    case "decision-asked":
      return `decision ${event.decision.id} asked: ${event.decision.question}`;
    case "decision-answered":
      return `decision ${event.id} answered: ${event.key} by ${event.by}`;
    case "decision-withdrawn":
      return `decision ${event.id} withdrawn: ${event.reason}`;
    case "journal-repaired":
      return `journal repaired: ${event.lost} could not be read, kept at ${event.aside}`;
    default:
      return runSentence(event);
  }
}

function byWhom({ agent, continues }: { agent?: string; continues?: number }): string {
  const goesOn = continues === undefined ? "" : `, going on from attempt ${continues}`;
  return `${agent === undefined ? "" : ` by ${agent}`}${goesOn}`;
}

function runSentence(event: RecordedEvent): string {
  switch (event.type) {
    case "run-started":
      return `run of ${event.plan} started: ${event.phases.length} phases, ${event.mode}, by ${event.agent}`;
    case "run-resumed":
      return "run resumed";
    case "plan-reread":
      return `the plan was changed: ${event.changes.join("; ")}`;
    case "baseline-taken": {
      const failed = event.gates.filter(({ passed }) => passed === false).map(({ name }) => name);
      return `gates before the run: ${failed.length > 0 ? `${failed.join(", ")} failed` : "none failed"}`;
    }
    case "attempt-leased":
      return `phase ${event.phase}: attempt ${event.attempt} is with ${event.lease.by} until ${event.lease.until}`;
    case "attempt-reported":
      return `phase ${event.phase}: attempt ${event.attempt} reported as ${event.result.status}`;
    case "lent-tree-kept":
      return `phase ${event.phase}: the work tree of attempt ${event.attempt} is back${event.ref === undefined ? "" : `, kept at ${event.ref}`}`;
    case "skill-leased":
      return `session ${event.session} is with ${event.lease.by} until ${event.lease.until}`;
    case "skill-reported":
      return `session ${event.session} reported as ${event.result.status}`;
    case "attempt-started":
      return `phase ${event.phase}: attempt ${event.attempt} started${byWhom(event)}`;
    case "session-opened":
      return `phase ${event.phase}: ${event.agent} opened session ${event.session}`;
    case "usage-counted":
      return `phase ${event.phase}: used ${spendWords(event)}`;
    case "attempt-unable":
      return `phase ${event.phase}: ${event.agent} cannot work: ${event.message}`;
    case "attempt-over-budget":
      return `phase ${event.phase}: attempt ${event.attempt} was stopped, ${event.over}`;
    case "budget-raised":
      return `phase ${event.phase}: may use as much again`;
    case "run-budget-raised":
      return "the run may use as much again";
    case "phase-released":
      return `phase ${event.phase}: goes on, ${event.reason}`;
    case "attempt-delivered":
      return `phase ${event.phase}: attempt ${event.attempt} delivered ${event.commit.slice(0, 7)}`;
    case "attempt-failed":
      return `phase ${event.phase}: attempt ${event.attempt} failed, ${event.error.type}: ${event.error.message}`;
    case "attempt-interrupted":
      return `phase ${event.phase}: attempt ${event.attempt} interrupted, ${event.reason}`;
    case "attempt-parked":
      return `phase ${event.phase}: parked until ${event.until}, ${event.reason}`;
    case "attempt-conflicted":
      return `phase ${event.phase}: collides with what has landed in ${event.files.join(", ")}`;
    case "phase-verified":
      return `phase ${event.phase}: verified as ${event.commit.slice(0, 7)}`;
    case "phase-landed":
      return `phase ${event.phase}: landed as ${event.commit.slice(0, 7)}`;
    case "phase-skipped":
      return `phase ${event.phase}: skipped, ${event.reason}`;
    case "phase-reset":
      return `phase ${event.phase}: to be done again, ${event.reason}`;
    case "note-given":
      return `phase ${event.phase}: ${event.by} says: ${event.note}`;
    case "stop-asked":
      return `asked to stop ${event.how === "now" ? "now" : "after this phase"} by ${event.by}`;
    case "phase-published":
      return `phase ${event.phase}: published`;
    case "run-published":
      return `all phases published as ${event.commit.slice(0, 7)}`;
    case "target-moved":
      return `the branch has moved to ${event.commit.slice(0, 7)}${event.undone.length > 0 ? `: ${event.undone.join(", ")} land again` : ""}`;
    case "target-chosen":
      return `published to ${event.target} from now on`;
    case "review-passed":
      return `reviewed up to ${event.commit.slice(0, 7)}`;
    case "run-ended":
      return `run ended: ${event.how}${event.until === undefined ? "" : ` until ${event.until}`}`;
    case "run-set-aside":
      return `run set aside, its files are at ${event.aside}`;
    default:
      return event.type;
  }
}

/** Jira: Atlassian's own server, and those of others that call the same things a little differently. */
import { fieldsOf } from "../../core/tracker/tools.ts";
import {
  addressOf,
  callOf,
  itemOf,
  mapped,
  marked,
  missing,
  type Profile,
  textOf,
  toolFor,
} from "./profile.ts";

const site = ["cloudId", "cloud_id"] as const;
const project = ["projectKey", "project_key", "projectIdOrKey", "project"] as const;
const title = ["summary", "title"] as const;
const type = ["issueTypeName", "issue_type", "issueType", "issuetype"] as const;
const more = ["additional_fields", "additionalFields", "fields"] as const;
const issue = ["issueIdOrKey", "issue_key", "issueKey"] as const;

export const jira: Profile = {
  // Its search reads an index that is a while behind.
  lagMs: 60_000,

  map(tools, settings) {
    const create = toolFor(tools, [
      { called: /create.*issue(?!.*link)/i, takes: [project, title, type] },
      { called: /issue.*create/i, takes: [project, title, type] },
    ]);
    const find = toolFor(tools, [
      { called: /jql/i, takes: [["jql", "query"]] },
      { called: /search/i, takes: [["jql"]] },
    ]);
    const move = toolFor(tools, [{ called: /(?<!get\w*)transition.*issue/i, takes: [issue] }]);
    const ways = toolFor(tools, [{ called: /get.*transitions/i, takes: [issue] }]);
    if (!create || !find) return missing("it has no tool to create issues, or none for JQL");
    if (settings.project === undefined) {
      return missing("it is not said in which project: set tracker.project to its key");
    }
    const resources = toolFor(tools, [{ called: /accessible.*resources/i }]);
    const wantsSite = site.some((name) => create.tool.properties[name]);
    if (wantsSite && settings.site === undefined) {
      if (!resources) return missing("it is not said on which site: set tracker.site");
      return { is: "ask", call: callOf(resources, []), setting: "site" };
    }
    const { project: key, epic_type: epicType = "Epic", task_type: taskType = "Task" } = settings;
    const where = [site, settings.site] as const;
    // A parent stands among the other fields with some, and by itself with Atlassian.
    const ownParent = create.tool.properties["parent"] !== undefined;
    const others = more.find((name) => create.tool.properties[name]);
    if (others === undefined && !create.tool.properties["labels"]) {
      return missing(`its tool ${create.tool.name} takes no labels`);
    }
    return mapped(
      {
        exact: true,
        find: (label) =>
          callOf(find, [
            where,
            [["jql", "query"], `labels = "${label}" ORDER BY created ASC`],
            [["fields"], ["summary", "labels", "status"]],
            [["maxResults", "limit", "max_results"], 10],
          ]),
        create: (item) => {
          const parent = item.epic;
          return callOf(create, [
            where,
            [project, key],
            [type, item.kind === "epic" ? epicType : taskType],
            [title, item.title],
            [["description", "body"], marked(item)],
            [["contentFormat"], "markdown"],
            [["labels"], ["autodev", item.key]],
            [["parent"], parent],
            [
              more,
              {
                labels: ["autodev", item.key],
                ...(parent !== undefined && !ownParent && { parent: { key: parent } }),
              },
            ],
          ]);
        },
        ...(move && {
          move: {
            ...(ways && { ask: (id) => callOf(ways, [where, [issue, id]]) }),
            call: (id, answer) => {
              const state = settings.done_state ?? "Done";
              const way = ways ? wayTo(state, answer) : undefined;
              if (ways && way === undefined) return undefined;
              return callOf(move, [
                where,
                [issue, id],
                [["transition"], { id: way }],
                [["transition_id", "transitionId"], way],
                [["transition_name", "transitionName"], way === undefined ? state : undefined],
              ]);
            },
          },
        }),
      },
      { find, create, move },
    );
  },

  item(value) {
    const { key, self, url, webUrl } = value;
    const id = textOf(key) ?? textOf(fieldsOf(value["issue"])["key"]);
    return itemOf(id, addressOf(webUrl) ?? addressOf(url) ?? addressOf(self));
  },

  /** Of one site that we may use, its id; of several nobody guesses. */
  setting(answer) {
    const sites = Array.isArray(answer) ? answer : [];
    const [only, ...rest] = sites.map((each) => textOf(fieldsOf(each)["id"]));
    return rest.length === 0 ? only : undefined;
  },
};

/** The id of the transition that leads there, by its name, its target's, or what kind of state that is. */
function wayTo(state: string, answer: unknown): string | undefined {
  const list = Array.isArray(answer) ? answer : fieldsOf(answer)["transitions"];
  const ways = (Array.isArray(list) ? list : []).map(fieldsOf);
  const named = (way: Record<string, unknown>): unknown[] => [
    way["name"],
    fieldsOf(way["to"])["name"],
  ];
  const isOver = (way: Record<string, unknown>): boolean =>
    fieldsOf(fieldsOf(way["to"])["statusCategory"])["key"] === "done";
  const way = ways.find((each) => named(each).includes(state)) ?? ways.find(isOver);
  return textOf(way?.["id"]);
}

/** Azure DevOps Boards, by Microsoft's server: one tool for each verb until 2.x, then one with actions. */
import { fieldsOf } from "../../core/tracker/tools.ts";
import {
  addressOf,
  callOf,
  itemOf,
  mapped,
  marked,
  missing,
  numberOf,
  type Profile,
  toolFor,
  wholeNumber,
} from "./profile.ts";

const html = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", "<br>");

export const ado: Profile = {
  // A query reads the items themselves; a text search is behind, and some versions have nothing else.
  lagMs: 30_000,

  map(tools, settings) {
    const create = toolFor(tools, [
      { called: /work_item_write$/, takes: [["fields"]], chosen: ["action", "create"] },
      { called: /create_work_item$/, takes: [["fields"], ["workItemType"]] },
    ]);
    const query = toolFor(tools, [
      { called: /wit_query$/, takes: [["wiql"]], chosen: ["action", "wiql"] },
      { called: /wiql/, takes: [["wiql", "query"]] },
    ]);
    const search =
      query ?? toolFor(tools, [{ called: /search_workitem/, takes: [["searchText"]] }]);
    const link = toolFor(tools, [
      { called: /work_item_link_write$/, takes: [["updates"]], chosen: ["action", "link"] },
      { called: /work_items_link$/, takes: [["updates"]] },
    ]);
    const update = toolFor(tools, [
      { called: /work_item_write$/, takes: [["updates"]], chosen: ["action", "update"] },
      { called: /update_work_item$/, takes: [["updates"]] },
    ]);
    if (!create || !search)
      return missing("it has no tool to create work items, or none to search");
    const { project } = settings;
    if (project === undefined) {
      return missing("it is not said in which project: set tracker.project to its name");
    }
    const where = [["project"], project] as const;
    const state = { op: "add", path: "/fields/System.State", value: settings.done_state ?? "Done" };
    const over = [["updates"], [state]] as const;
    const { epic_type: epicType = "Epic", task_type: taskType = "Task" } = settings;
    return mapped(
      {
        exact: query !== undefined,
        find: (key) =>
          callOf(search, [
            where,
            [
              ["wiql", "query"],
              `SELECT [System.Id], [System.Tags] FROM WorkItems WHERE [System.TeamProject] = @project AND [System.Tags] CONTAINS '${key}' ORDER BY [System.Id] ASC`,
            ],
            [["searchText"], key],
            [["top"], 10],
          ]),
        create: (item) =>
          callOf(create, [
            where,
            [["workItemType"], item.kind === "epic" ? epicType : taskType],
            [
              ["fields"],
              [
                { name: "System.Title", value: item.title },
                { name: "System.Description", value: html(marked(item)) },
                { name: "System.Tags", value: `autodev; ${item.key}` },
              ],
            ],
          ]),
        ...(link && {
          link: (id, epic) =>
            callOf(link, [
              where,
              [["updates"], [{ id: numberOf(id), linkToId: numberOf(epic), type: "parent" }]],
            ]),
        }),
        ...(update && {
          move: { call: (id) => callOf(update, [where, [["id"], numberOf(id)], over]) },
        }),
      },
      { find: search, create, link, move: update },
    );
  },

  item(value) {
    const { id, url, _links: links } = value;
    const fields = fieldsOf(value["fields"]);
    const number = wholeNumber(id) ?? wholeNumber(fields["system.id"] ?? fields["System.Id"]);
    const page = addressOf(fieldsOf(fieldsOf(links)["html"])["href"]);
    return itemOf(number === undefined ? undefined : `AB-${number}`, page ?? addressOf(url));
  },
};

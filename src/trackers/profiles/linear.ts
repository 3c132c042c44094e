/** Linear: an epic is an issue with issues below it. */
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

export const linear: Profile = {
  lagMs: 30_000,

  map(tools, settings) {
    const create = toolFor(tools, [
      { called: /create_issue$|save_issue$/, takes: [["title"], ["team", "teamId"]] },
    ]);
    const find = toolFor(tools, [{ called: /list_issues$|search_issues$/, takes: [["query"]] }]);
    const update = toolFor(tools, [
      { called: /update_issue$|save_issue$/, takes: [["id"], ["state", "stateId"]] },
    ]);
    if (!create || !find) return missing("it has no tool to create issues, or none to search them");
    const { project } = settings;
    if (project === undefined) {
      return missing("it is not said for which team: set tracker.project to its name");
    }
    const team = [["team", "teamId"], project] as const;
    return mapped(
      {
        // Labels have to be made first there: the key stands in the text alone.
        exact: false,
        find: (key) => callOf(find, [team, [["query"], key], [["limit"], 10]]),
        create: (item) =>
          callOf(create, [
            team,
            [["title"], item.title],
            [["description"], marked(item)],
            [["parentId", "parent"], item.epic],
          ]),
        ...(update && {
          move: {
            call: (id) =>
              callOf(update, [
                [["id"], id],
                [["state", "stateId"], settings.done_state ?? "Done"],
              ]),
          },
        }),
      },
      { find, create, move: update },
    );
  },

  item({ identifier, id, url }) {
    return itemOf(textOf(identifier) ?? textOf(id), addressOf(url));
  },
};

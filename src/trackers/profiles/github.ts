/** GitHub's issues: its own server (`issue_write`), its older names, and the one that came before it. */
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

export const github: Profile = {
  // Lists are as of now; the search that has to do where there are none is behind.
  lagMs: 60_000,

  map(tools, settings) {
    const create = toolFor(tools, [
      { called: /issue_write$/, takes: [["title"]], chosen: ["method", "create"] },
      { called: /create_issue$/, takes: [["title"]] },
    ]);
    const list = toolFor(tools, [{ called: /list_issues$/, takes: [["labels"], ["owner"]] }]);
    const search = list ?? toolFor(tools, [{ called: /search_issues$/, takes: [["q", "query"]] }]);
    const update = toolFor(tools, [
      { called: /issue_write$/, takes: [["state"]], chosen: ["method", "update"] },
      { called: /update_issue$/, takes: [["state"]] },
    ]);
    if (!create || !search) return missing("it has no tool to create issues, or none to list them");
    const [, owner, repo] = /^([\w.-]+)\/([\w.-]+)$/.exec(settings.project ?? "") ?? [];
    if (owner === undefined || repo === undefined) {
      return missing("it is not said in which repository: set tracker.project to owner/repository");
    }
    const where = [
      [["owner"], owner],
      [["repo"], repo],
    ] as const;
    const states = list?.tool.properties["state"]?.choices ?? [];
    return mapped(
      {
        exact: list !== undefined,
        find: (key) =>
          callOf(search, [
            ...where,
            [["labels"], [key]],
            // All of them: a version that has no word for that takes none.
            [["state"], states.includes("all") ? "all" : undefined],
            [["q", "query"], `repo:${owner}/${repo} is:issue "${key}"`],
            [["perPage", "per_page"], 10],
          ]),
        create: (item) =>
          callOf(create, [
            ...where,
            [["title"], item.title],
            [["body"], marked({ ...item, body: withEpic(item) })],
            [["labels"], ["autodev", item.kind, item.key]],
          ]),
        ...(update && {
          move: {
            call: (id) =>
              callOf(update, [
                ...where,
                [["issue_number"], numberOf(id)],
                [["state"], "closed"],
                [["state_reason"], "completed"],
              ]),
          },
        }),
      },
      { find: search, create, move: update },
    );
  },

  item(value) {
    const { number, html_url: page, url } = value;
    const address = addressOf(page) ?? addressOf(url);
    // What `issue_write` answers is an address, and an id that no other tool takes.
    const [, last] = /\/issues\/(\d+)$/.exec(address ?? "") ?? [];
    const own = wholeNumber(number) ?? wholeNumber(last);
    return itemOf(own === undefined ? undefined : `GH-${own}`, address);
  },
};

/**
 * The text says to what it belongs, and GitHub makes a reference of that: a sub-issue is added by an id
 * that no list of issues tells.
 */
const withEpic = ({ body, epic }: { readonly body: string; readonly epic?: string }): string =>
  epic === undefined ? body : `${body}\n\nEpic: #${numberOf(epic)}`;

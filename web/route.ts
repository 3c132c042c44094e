/** Where somebody is on the page, as it stands in the address: `#/run/r12/2a?p=web&at=57`. */
export type Place =
  | { readonly view: "now" }
  | { readonly view: "flow"; readonly artifact?: string; readonly step?: string }
  | { readonly view: "run"; readonly run?: string; readonly phase?: string }
  | { readonly view: "timeline"; readonly run?: string }
  | { readonly view: "history" };

export type Route = Place & {
  readonly project: string;
  /** The past: as it was after this event. Absent: now. */
  readonly at?: number;
};

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const asked = new URLSearchParams(query);
  const at = Number(asked.get("at") ?? Number.NaN);
  return {
    ...placeOf(path.split("/").map(decoded), asked),
    project: asked.get("p") ?? ".",
    ...(Number.isSafeInteger(at) && at > 0 && { at }),
  };
}

function placeOf([view, ...rest]: string[], asked: URLSearchParams): Place {
  const [first, second] = rest;
  const step = asked.get("step");
  switch (view) {
    case "flow":
      return {
        view,
        ...(first && { artifact: rest.join("/") }),
        ...(step !== null && { step }),
      };
    case "run":
      return { view, ...(first && { run: first }), ...(second && { phase: second }) };
    case "timeline":
      return { view, ...(first && { run: first }) };
    case "history":
      return { view };
    default:
      return { view: "now" };
  }
}

/** A percent sign of somebody's that means nothing is a percent sign. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function hashOf({ project, at, ...place }: Route): string {
  const asked = new URLSearchParams();
  if (project !== ".") asked.set("p", project);
  if (place.view === "flow" && place.step !== undefined) asked.set("step", place.step);
  if (at !== undefined) asked.set("at", String(at));
  const query = asked.size > 0 ? `?${asked}` : "";
  return `#/${partsOf(place).map(encodeURIComponent).join("/")}${query}`;
}

function partsOf(place: Place): string[] {
  switch (place.view) {
    case "now":
      return [];
    case "flow":
      return ["flow", ...(place.artifact?.split("/") ?? [])];
    case "run":
      return ["run", place.run, place.phase].filter((part) => part !== undefined);
    case "timeline":
      return ["timeline", place.run].filter((part) => part !== undefined);
    case "history":
      return ["history"];
  }
}

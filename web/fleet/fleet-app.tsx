/** The fleet's whole page: the frame that every view has, and in it what is known. */
import { useEffect, useState } from "preact/hooks";
import type { Trouble } from "../api.ts";
import { Fence } from "../fence.tsx";
import { Frame } from "../frame.tsx";
import { KeyHelp } from "../key-help.tsx";
import { keyHelp, useKeys } from "../keys.ts";
import { needKeys } from "../now/need-keys.ts";
import { Refused } from "../refused.tsx";
import { hashOf, type Place } from "../route.ts";
import { Text } from "../text.tsx";
import { isDark, turnTheme } from "../theme.ts";
import type { FleetApi } from "./api.ts";
import { FleetPage } from "./fleet-page.tsx";
import { useFleet } from "./use-fleet.ts";
import { fleetVerdict } from "./verdict.ts";

export function FleetApp({ api }: { api: FleetApi }) {
  const [{ link, fleet, trouble }, look] = useFleet(api);
  const [helps, setHelps] = useState(false);
  const [dark, setDark] = useState(isDark);
  const turn = (): void => {
    turnTheme();
    setDark(isDark());
  };
  useKeys({
    ...needKeys,
    ...Object.fromEntries(
      places.map(({ place, keys }) => [keys, () => location.assign(to(place))]),
    ),
    t: turn,
    "?": () => setHelps(true),
  });
  const verdict = fleet && fleetVerdict(fleet);
  useEffect(() => {
    document.title = `${verdict ? `${verdict.title} · ` : ""}fleet · autodev`;
  }, [verdict?.title]);
  if (link.is === "refused") return <Refused why={link.why} />;
  // The frame tells of a place that cannot be read any more: here, that is the whole fleet.
  const everywhere = {
    key: ".",
    name: "all machines",
    root: "all that share a database",
    needs: 0,
    ...(fleet && trouble && { trouble: trouble.message }),
  };
  return (
    <>
      <Frame
        view="fleet"
        {...{ places, to, link, dark, turn }}
        needs={0}
        project="."
        projects={[everywhere]}
        choose={() => {}}
        help={() => setHelps(true)}
      >
        <Fence>
          {fleet && verdict ? (
            <FleetPage {...{ fleet, verdict, api, look }} />
          ) : trouble ? (
            <Without trouble={trouble} />
          ) : (
            <Loading />
          )}
        </Fence>
      </Frame>
      {helps && <KeyHelp close={() => setHelps(false)} of={ownKeys} />}
    </>
  );
}

const to = (place: Place): string => `/${hashOf({ ...place, project: "." })}`;

const places = [
  { place: { view: "now" }, name: "Now", keys: "g n" },
  { place: { view: "flow" }, name: "Flow", keys: "g f" },
  { place: { view: "run" }, name: "Graph", keys: "g r" },
  { place: { view: "timeline" }, name: "Timeline", keys: "g t" },
  { place: { view: "history" }, name: "History", keys: "g h" },
] as const;

const ownKeys = keyHelp.filter(([title]) => /^(?:Needs you|Page)$/.test(title));

/** Nothing of it was ever seen: why, and what to do about it. */
function Without({ trouble: { code, message, hint } }: { trouble: Trouble }) {
  if (code !== "not-found")
    return (
      <section class="empty" role="alert">
        <h1 tabIndex={-1}>The fleet cannot be read</h1>
        <p>
          <Text of={message} line />
        </p>
        {hint !== undefined && (
          <p class="muted">
            <Text of={hint} line />
          </p>
        )}
        <p>It is asked for again every few seconds.</p>
      </section>
    );
  return (
    <section class="empty">
      <h1 tabIndex={-1}>There is no fleet here</h1>
      <p>
        A fleet is several machines that share their runs by a PostgreSQL database, and this{" "}
        <code>autodev ui</code> was not told of one.
      </p>
      <dl>
        <div>
          <dt>
            <code>export AUTODEV_DATABASE_URL=postgres://user:password@host:5432/name</code>
          </dt>
          <dd>says where it is; AUTODEV_DATABASE_URL_FILE names a file that does</dd>
        </div>
        <div>
          <dt>
            <code>autodev engine migrate</code>
          </dt>
          <dd>makes its tables, once</dd>
        </div>
        <div>
          <dt>
            <code>autodev worker</code>
          </dt>
          <dd>on every machine that is to work</dd>
        </div>
        <div>
          <dt>
            <code>autodev ui</code>
          </dt>
          <dd>
            once more, where that address is set: end the one that runs, and this page goes on
          </dd>
        </div>
      </dl>
    </section>
  );
}

const Loading = () => (
  <div class="loading" role="status" aria-label="Loading">
    <div class="skeleton line" />
    <div class="card skeleton" />
    <div class="card skeleton tall" />
  </div>
);

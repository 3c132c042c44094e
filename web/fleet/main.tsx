/** The fleet's page: a script of its own, so that nobody who has no fleet fetches it. */
import { render } from "preact";
import "../theme.css";
import "./fleet.css";
import { takeToken } from "../entrance.ts";
import { Fence } from "../fence.tsx";
import { takeTheme } from "../theme.ts";
import { fleetApi } from "./api.ts";
import { FleetApp } from "./fleet-app.tsx";

takeTheme();
const token = await takeToken();
window.addEventListener("hashchange", () => {
  if (/^#t(?:oken|icket)=/.test(location.hash)) location.reload();
});
const page = document.getElementById("page");
if (page)
  render(
    <Fence>
      <FleetApp api={fleetApi(token)} />
    </Fence>,
    page,
  );

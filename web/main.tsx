/** The page's first lines: theme and token before anything is drawn, then the page itself. */
import { render } from "preact";
import "./theme.css";
import "./app.css";
import { App } from "./app.tsx";
import { takeToken } from "./entrance.ts";
import { Fence } from "./fence.tsx";
import { takeTheme } from "./theme.ts";

takeTheme();
const token = await takeToken();
// Whoever opens a new address of ours in the same tab has a new token.
window.addEventListener("hashchange", () => {
  if (/^#t(?:oken|icket)=/.test(location.hash)) location.reload();
});
const page = document.getElementById("page");
if (page)
  render(
    <Fence>
      <App token={token} />
    </Fence>,
    page,
  );

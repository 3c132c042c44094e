/** Nobody is let in without the token: what to do about it. */
import { visibleLine } from "./text.tsx";

export const Refused = ({ why }: { why: string }) => (
  <main class="refused">
    <section class="card">
      <h1>This page is not let in</h1>
      <p>
        Every <code>autodev ui</code> has a key of its own, and this tab does not have the one of
        the server that answers here.
      </p>
      <p>
        Type <code>autodev ui</code> in the project's folder: it opens the page with the right key.
      </p>
      <p class="muted">The server says: {visibleLine(why)}</p>
    </section>
  </main>
);

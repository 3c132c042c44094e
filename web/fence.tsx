/** Around what may fail to draw what it was told: then that is said, in its place. */
import { Component, type ComponentChildren } from "preact";
import { visibleLine } from "./text.tsx";

export class Fence extends Component<
  { children: ComponentChildren },
  { readonly error?: unknown }
> {
  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (!("error" in this.state)) return this.props.children;
    return (
      <section class="empty" role="alert">
        <h1 tabIndex={-1}>This cannot be shown</h1>
        <p>
          Something was recorded that this page does not understand, perhaps by a newer autodev.
          What it showed before may be old.
        </p>
        <p class="muted">{visibleLine(String(this.state.error))}</p>
        <p>
          <button type="button" class="btn btn-primary" onClick={loadAgain}>
            Load again
          </button>
        </p>
      </section>
    );
  }
}

/** From the beginning: where somebody is now may be just what cannot be shown. */
function loadAgain(): void {
  location.hash = "#/";
  location.reload();
}

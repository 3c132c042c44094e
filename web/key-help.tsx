/** The list of keys, over the page until it is closed. */
import { useEffect, useRef } from "preact/hooks";
import { keyHelp } from "./keys.ts";

/** `of`: of a page that has other keys. */
export function KeyHelp({ close, of = keyHelp }: { close: () => void; of?: typeof keyHelp }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="help" ref={dialog} onClose={close} aria-labelledby="help">
      <header>
        <h2 id="help">Keys</h2>
        <button type="button" class="btn" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <div class="help-groups">
        {of.map(([title, ...rows]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {rows.map(([keys = "", what]) => (
                <div key={keys}>
                  <dt>
                    {keys.split(" ").map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}

import { Dialog } from "../furniture/dialog.tsx";
import { navigation } from "../pages/index.ts";

const general: readonly (readonly [keys: string, meaning: string])[] = [
  ["Ctrl K", "go to a page, to anything by its name, or to a message by its id"],
  ["/", "to the filter"],
  ["j k", "into a list, down and up in it (arrows, Home and End too)"],
  ["Enter", "open what has the focus"],
  ["Esc", "close the details"],
  ["Ctrl Enter", "do what a dialog asks a reason for"],
  ["?", "this list"],
];

const Keys = ({ text }: { readonly text: string }) => (
  <span className="row">
    {text.split(" ").map((key) => (
      <kbd key={key}>{key}</kbd>
    ))}
  </span>
);

export function Help({ onClose }: { readonly onClose: () => void }) {
  const pages = navigation.map(({ key, title }) => [`g ${key}`, `to ${title}`] as const);
  return (
    <Dialog label="Keys" onClose={onClose}>
      <div className="content">
        <h2>Keys</h2>
        <dl className="keys">
          {[...general, ...pages].map(([keys, meaning]) => (
            <div key={keys} style={{ display: "contents" }}>
              <dt>
                <Keys text={keys} />
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <div className="ends">
          <button type="button" className="button" onClick={onClose} autoFocus>
            Close
          </button>
        </div>
      </div>
    </Dialog>
  );
}

import { Suspense, useEffect, useRef, useState } from "react";
import { QueryClientProvider } from "@tanstack/react-query";
import { Route, Router, Switch, useLocation } from "wouter";
import { queryClient } from "../api/hooks.ts";
import { useSession } from "../api/session.ts";
import { useKeys } from "../furniture/keys.ts";
import { Empty } from "../furniture/notice.tsx";
import { Page } from "../furniture/page.tsx";
import { navigation, pages } from "../pages/index.ts";
import { Bar } from "./bar.tsx";
import { Help } from "./help.tsx";
import { Side } from "./navigation.tsx";
import { Palette } from "./palette.tsx";
import { SignIn } from "./sign-in.tsx";

/** Whoever came by keys is not in the list yet: the first step goes into it, or back to the row that is open. */
function enterList(): void {
  const row = (which: string) => document.querySelector<HTMLElement>(`main .table-frame tr${which}`);
  (row('[aria-current="true"]') ?? row("[data-index]"))?.focus();
}

type Overlay = "palette" | "help" | undefined;

const Missing = () => (
  <Page title="No such page">
    <Empty title="There is nothing at this address.">Press Ctrl K to go somewhere else.</Empty>
  </Page>
);

function Pages() {
  return (
    <Suspense fallback={null}>
      <Switch>
        {pages.map(({ path, view: View }) => (
          <Route key={path} path={path}>
            <View />
          </Route>
        ))}
        <Route>
          <Missing />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** A new page begins at its top, with the focus in it. */
function useArrival() {
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: true });
    if (!first.current) window.scrollTo(0, 0);
    first.current = false;
  }, [location]);
  return { location, main };
}

function Shell() {
  const [overlay, setOverlay] = useState<Overlay>();
  const [menu, setMenu] = useState(false);
  const [, go] = useLocation();
  const { location, main } = useArrival();
  useEffect(() => setMenu(false), [location]);
  useKeys({
    "?": () => setOverlay("help"),
    j: enterList,
    k: enterList,
    "mod+k": () => setOverlay("palette"),
    ...Object.fromEntries(navigation.map(({ key, path }) => [`g ${key}`, () => go(path)])),
  });
  const close = () => setOverlay(undefined);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        To the content
      </a>
      <Bar open={menu} onMenu={() => setMenu(!menu)} onGoTo={() => setOverlay("palette")} />
      <Side open={menu} onHelp={() => setOverlay("help")} />
      <main className="main" id="main" tabIndex={-1} ref={main}>
        <Pages />
      </main>
      {overlay === "palette" && <Palette onClose={close} />}
      {overlay === "help" && <Help onClose={close} />}
    </div>
  );
}

/** The pages for whoever is known, the door for whoever is not. */
function Entrance() {
  const session = useSession();
  if (session.error?.problem.status === 401) return <SignIn />;
  return <Shell />;
}

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Router base="/console">
        <Entrance />
      </Router>
    </QueryClientProvider>
  );
}

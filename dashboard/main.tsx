/**
 * The dashboard in the browser: one page for each question. Keys 1 to 7 choose it, / goes to the name to explain.
 */
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Changes } from './pages/changes.tsx';
import { Explain } from './pages/explain.tsx';
import { Fails } from './pages/fails.tsx';
import { Healthy } from './pages/healthy.tsx';
import { LiveQueries } from './pages/live.tsx';
import { Replicas } from './pages/replicas.tsx';
import { Who } from './pages/who.tsx';
import { type Live, type Place, useLiveState, usePlace } from './state.ts';

const PAGES = [
  { page: 'healthy', title: 'Healthy?' },
  { page: 'who', title: 'Who asks what?' },
  { page: 'fails', title: 'What fails?' },
  { page: 'explain', title: 'Explain' },
  { page: 'changes', title: 'Changes' },
  { page: 'replicas', title: 'Replicas' },
  { page: 'live', title: 'Right now' },
] as const;
const NAME_FIELD = 'form[data-page=explain] input[name=name]';

function Dashboard() {
  const live = useLiveState();
  const place = usePlace();
  useEffect(() => {
    document.addEventListener('keydown', chooseByKey);
    return () => document.removeEventListener('keydown', chooseByKey);
  }, []);
  return (
    <>
      <header>
        <b>Portolan</b>
        <nav aria-label="Questions">
          {PAGES.map(({ page, title }, index) => (
            <a key={page} href={`#/${page}`} {...(page === place.page && { 'aria-current': 'page' })}>
              {index + 1} {title}
            </a>
          ))}
        </nav>
        <span class={live.error === undefined ? 'faint' : 'bad'} role="status">
          {live.error === undefined ? '● live' : `■ not live: ${live.error}`}
        </span>
      </header>
      <main>
        <Page live={live} place={place} />
      </main>
    </>
  );
}

function Page({ live: { state }, place: { page, query } }: { readonly live: Live; readonly place: Place }) {
  if (page === 'explain') return <Explain query={query} isReady={(state?.replicas.length ?? 0) > 0} />;
  if (page === 'live') return <LiveQueries query={query} />;
  if (state === undefined) return <p>Asking …</p>;
  switch (page) {
    case 'who':
      return <Who state={state} />;
    case 'fails':
      return <Fails state={state} />;
    case 'changes':
      return <Changes state={state} />;
    case 'replicas':
      return <Replicas state={state} />;
    default:
      return <Healthy state={state} />;
  }
}

function chooseByKey(event: KeyboardEvent): void {
  const { key, target, ctrlKey, altKey, metaKey } = event;
  if (ctrlKey || altKey || metaKey || target instanceof HTMLInputElement) return;
  const page = PAGES[Number(key) - 1]?.page;
  if (page !== undefined) location.hash = `#/${page}`;
  if (key !== '/') return;
  event.preventDefault();
  if (document.querySelector(NAME_FIELD) === null) {
    // The listener of `usePlace` stands before this one, and Preact draws as soon as that has ended.
    window.addEventListener('hashchange', () => setTimeout(focusName), { once: true });
    location.hash = '#/explain';
  } else focusName();
}

function focusName(): void {
  document.querySelector<HTMLInputElement>(NAME_FIELD)?.focus();
}

const root = document.getElementById('page');
if (root !== null) render(<Dashboard />, root);

/**
 * The state of all replicas, asked for every two seconds while the page is visible; and the address bar, which holds what is shown.
 */
import { useEffect, useState } from 'preact/hooks';
import type { ExplainedByReplica, PageState } from '../src/server/dashboard/page-state.ts';

const PAUSE = 2_000;
const TOKEN_KEY = 'portolan-token';

/** The token comes behind the # once. It stays for this tab, and leaves the address bar. */
function takeToken(): string {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    sessionStorage.setItem(TOKEN_KEY, given);
    history.replaceState(null, '', '#/healthy');
  }
  return sessionStorage.getItem(TOKEN_KEY) ?? '';
}

const token = takeToken();

async function ask(path: string): Promise<unknown> {
  const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(path, { headers });
  if (response.ok) return await response.json();
  const body = await response.text();
  if (response.status !== 400 && response.status !== 429) throw new Error(body);
  const { problems } = JSON.parse(body) as { problems: readonly string[] }; // Of the server that gave this page.
  throw new Error(problems.join(' '));
}

export interface Live {
  readonly state: PageState | undefined;
  /** Why there is no newer state. */
  readonly error: string | undefined;
}

export function useLiveState(): Live {
  const [live, setLive] = useState<Live>({ state: undefined, error: undefined });
  useEffect(() => {
    let timer: number | undefined;
    let isOver = false;
    const poll = async () => {
      try {
        const state = (await ask('/api/state')) as PageState; // As above.
        setLive({ state, error: undefined });
      } catch (error) {
        setLive(({ state }) => ({ state, error: error instanceof Error ? error.message : String(error) }));
      }
      // A page that nobody sees asks nothing.
      if (!isOver && !document.hidden) timer = window.setTimeout(poll, PAUSE);
    };
    const wake = () => {
      window.clearTimeout(timer);
      if (!document.hidden) void poll();
    };
    document.addEventListener('visibilitychange', wake);
    void poll();
    return () => {
      isOver = true;
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', wake);
    };
  }, []);
  return live;
}

export async function explain(query: URLSearchParams): Promise<readonly ExplainedByReplica[]> {
  return (await ask(`/api/explain?${query}`)) as readonly ExplainedByReplica[]; // As above.
}

export interface Place {
  readonly page: string;
  readonly query: URLSearchParams;
}

function readPlace(): Place {
  const [page = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { page: page === '' ? 'healthy' : page, query: new URLSearchParams(query) };
}

/** Where the address bar points to. */
export function usePlace(): Place {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const change = () => setPlace(readPlace());
    window.addEventListener('hashchange', change);
    return () => window.removeEventListener('hashchange', change);
  }, []);
  return place;
}

export function explainAddress(name: string, type = ''): string {
  return `#/explain?${new URLSearchParams({ name, ...(type !== '' && { type }) })}`;
}

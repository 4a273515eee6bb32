/**
 * The state of all replicas, asked for every two seconds while the page is visible; and the address bar, which holds what is shown.
 */
import type {
  ExplainedByReplica,
  LiveLine,
  LiveQuery,
  PageState,
} from '@portolan/ops/dashboard/page-state.ts';
import { useEffect, useState } from 'preact/hooks';

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

/** @throws BadRequestError for a request that is wrong, Error for all other failures */
async function send(path: string, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(path, { headers, ...(signal && { signal }) });
  if (response.ok) return response;
  const body = await response.text();
  if (response.status !== 400 && response.status !== 429) throw new Error(body);
  const { problems } = JSON.parse(body) as { problems: readonly string[] }; // Of the server that gave this page.
  const reason = problems.join(' ');
  throw response.status === 400 ? new BadRequestError(reason) : new Error(reason);
}

/** The same request fails again. */
class BadRequestError extends Error {}

async function ask(path: string): Promise<unknown> {
  const response = await send(path);
  return await response.json();
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

export interface NumberedQuery extends LiveQuery {
  readonly number: number;
}

export interface Tail {
  /** Newest first. */
  readonly queries: readonly NumberedQuery[];
  readonly leftOut: number;
  /** Undefined: nothing has come yet. */
  readonly latest: LiveLine | undefined;
  /** Why there are no newer ones. */
  readonly error: string | undefined;
}

const NO_QUERIES: Tail = { queries: [], leftOut: 0, latest: undefined, error: undefined };
const MAX_QUERIES = 200;

/** The queries that fit the filters, as they are asked; those of former filters go. */
export function useLiveQueries(filters: URLSearchParams, isPaused: boolean): Tail {
  const [tail, setTail] = useState(NO_QUERIES);
  const text = filters.toString();
  const isSeen = usePageVisibility();
  useEffect(() => setTail(NO_QUERIES), [text]);
  useEffect(() => {
    if (isPaused || !isSeen) return;
    const abort = new AbortController();
    void follow(`/api/live?${text}`, abort.signal, (change) => setTail(change));
    return () => abort.abort();
  }, [text, isPaused, isSeen]);
  return tail;
}

/** A page that nobody sees asks nothing. */
function usePageVisibility(): boolean {
  const [isSeen, setIsSeen] = useState(!document.hidden);
  useEffect(() => {
    const change = () => setIsSeen(!document.hidden);
    document.addEventListener('visibilitychange', change);
    return () => document.removeEventListener('visibilitychange', change);
  }, []);
  return isSeen;
}

/** Until the signal; a stream that ends begins again. */
async function follow(
  path: string,
  signal: AbortSignal,
  show: (change: (before: Tail) => Tail) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const line of readLines(await send(path, signal)))
        show((before) => addLine(before, JSON.parse(line) as LiveLine)); // Of the server that gave this page.
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      show((before) => ({ ...before, error: reason }));
      if (error instanceof BadRequestError) return;
    }
    await new Promise((resolve) => window.setTimeout(resolve, PAUSE));
  }
}

function addLine(before: Tail, line: LiveLine): Tail {
  const last = before.queries[0]?.number ?? 0;
  const added = line.queries.map((query, index) => ({ ...query, number: last + index + 1 })).reverse();
  return {
    queries: [...added, ...before.queries].slice(0, MAX_QUERIES),
    leftOut: before.leftOut + line.leftOut,
    latest: line,
    error: undefined,
  };
}

async function* readLines({ body }: Response): AsyncIterable<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    text += piece.value;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
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

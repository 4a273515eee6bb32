/**
 * Fetches a list over HTTP, within bounds: a server of lists must neither fill our memory nor keep us waiting.
 */

/** Octets; the largest lists in use have a quarter. */
export const MAX_LIST_OCTETS = 64 * 2 ** 20;
/** Milliseconds for the whole list. */
const MAX_TIME = 60_000;

export interface FetchBounds {
  /** Milliseconds. */
  readonly maxTime?: number;
  readonly maxOctets?: number;
}

/** @throws an Error that says why there is no list */
export async function fetchList(
  url: string,
  signal: AbortSignal,
  { maxTime = MAX_TIME, maxOctets = MAX_LIST_OCTETS }: FetchBounds = {},
): Promise<string> {
  const over = AbortSignal.timeout(maxTime);
  const ended = new AbortController();
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([signal, over, ended.signal]),
      headers: { accept: 'text/plain, */*' },
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return await readBody(response, maxOctets);
  } catch (error) {
    if (over.aborted) throw new Error(`not here within ${maxTime / 1_000} s`);
    // `fetch` names the reason in the cause only.
    if (error instanceof Error && error.cause instanceof Error) throw error.cause;
    throw error;
  } finally {
    ended.abort();
  }
}

async function readBody({ body }: Response, maxOctets: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let octets = 0;
  if (body === null) return text;
  for await (const piece of body) {
    octets += piece.length;
    if (octets > maxOctets) throw new Error(`longer than ${maxOctets} octets`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

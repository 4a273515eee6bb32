/**
 * Shares replies between requests when there are too many of them. A flood of requests for an expensive page such as `/metrics` then
 * takes at most a tenth of the main thread.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { HttpReply, HttpRoute } from './http-route.ts';

/** Requests per second that get separate replies: more than probes, scrapers and users send. */
const MAX_OWN_REPLIES = 50;
const SECOND = 1_000;
/** How much longer a reply is shared than it took to render. */
const SHARED_PART = 9;

interface SharedReply {
  readonly reply: Promise<HttpReply>;
  /** In monotonic time; infinite until the reply is complete. */
  until: number;
}

export class SharedReplies {
  readonly #clock: Clock;
  readonly #shared = new Map<HttpRoute, SharedReply>();
  #secondBegan = 0;
  #requests = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The reply of a route: a separate one, or a recent one while there are many requests. */
  reply(route: HttpRoute, query: URLSearchParams = NO_QUERY): Promise<HttpReply> {
    const now = this.#clock.monotonic();
    if (now - this.#secondBegan >= SECOND) {
      this.#secondBegan = now;
      this.#requests = 0;
      this.#shared.clear();
    }
    this.#requests += 1;
    if (this.#requests <= MAX_OWN_REPLIES) return answer(route, query);
    const shared = this.#shared.get(route);
    if (shared === undefined || now >= shared.until) return this.#share(route, query, now);
    // Replies sent in pieces can be sent only once.
    return shared.reply.then((reply) => (isWhole(reply) ? reply : answer(route, query)));
  }

  #share(route: HttpRoute, query: URLSearchParams, began: number): Promise<HttpReply> {
    const shared: SharedReply = { reply: answer(route, query), until: Number.POSITIVE_INFINITY };
    this.#shared.set(route, shared);
    const end = () => {
      const written = this.#clock.monotonic();
      shared.until = written + SHARED_PART * (written - began);
    };
    shared.reply.then(end, end);
    return shared.reply;
  }
}

async function answer(route: HttpRoute, query: URLSearchParams): Promise<HttpReply> {
  return await route(query);
}

function isWhole({ body }: HttpReply): boolean {
  return typeof body === 'string' || body instanceof Uint8Array;
}

const NO_QUERY = new URLSearchParams();

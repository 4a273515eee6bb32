/**
 * The current address of a server: the system looks up a host name again for each question.
 */
import { lookup } from 'node:dns/promises';
import { parseAddress } from '@portolan/dns/address.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { ProbedServer } from '@portolan/server/settings/sidecar/sidecar-plan.ts';
import { QUERY_TIMEOUT, type ServerEndpoint } from './server-question.ts';

export type FoundServer =
  | { readonly kind: 'found'; readonly endpoint: ServerEndpoint }
  | { readonly kind: 'failed'; readonly reason: string };

/** @returns an IP address of a host @throws the error of the system */
export type LookUpHost = (host: string) => Promise<string>;

/** As configured in the system: `/etc/hosts`, then DNS. */
export const lookUpBySystem: LookUpHost = async (host) => (await lookup(host)).address;

export class ServerAddress {
  readonly #place: ProbedServer;
  readonly #isAddress: boolean;
  readonly #lookUp: LookUpHost;
  readonly #clock: Clock;
  /** The in-flight look-up: system look-ups cannot be cancelled, so only one runs at a time. */
  #inflight: Promise<FoundServer> | undefined;

  constructor(place: ProbedServer, lookUp: LookUpHost, clock: Clock) {
    this.#place = place;
    this.#isAddress = parseAddress(place.host.split('%')[0] ?? '') !== undefined;
    this.#lookUp = lookUp;
    this.#clock = clock;
  }

  /** Never rejects, and settles within the time-out of a query. */
  async find(): Promise<FoundServer> {
    const { host, port } = this.#place;
    if (this.#isAddress) return { kind: 'found', endpoint: { address: host, port } };
    this.#inflight ??= this.#lookUpOnce();
    const reason = `dial udp: lookup ${host}: i/o timeout`;
    let timeout: Timer | undefined;
    const timedOut = new Promise<FoundServer>((resolve) => {
      timeout = this.#clock.after(QUERY_TIMEOUT, () => resolve({ kind: 'failed', reason }));
    });
    const found = await Promise.race([this.#inflight, timedOut]);
    timeout?.cancel();
    return found;
  }

  async #lookUpOnce(): Promise<FoundServer> {
    const { host, port } = this.#place;
    try {
      return { kind: 'found', endpoint: { address: await this.#lookUp(host), port } };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException; // The errors of system look-ups.
      const what = code === 'ENOTFOUND' ? 'no such host' : String(code ?? error);
      return { kind: 'failed', reason: `dial udp: lookup ${host}: ${what}` };
    } finally {
      this.#inflight = undefined;
    }
  }
}

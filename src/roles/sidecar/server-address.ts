/**
 * Where a server is at the moment: a name of a host is looked up by the system, anew for each question.
 */
import { lookup } from 'node:dns/promises';
import type { ServerPlace } from '../../config/sidecar/plan.ts';
import type { Clock, Timer } from '../../ground/clock.ts';
import { parseAddress } from '../../wire/address.ts';
import { PATIENCE, type ServerEndpoint } from './server-question.ts';

export type FoundServer =
  | { readonly kind: 'found'; readonly endpoint: ServerEndpoint }
  | { readonly kind: 'failed'; readonly reason: string };

/** @returns an IP address of a host @throws whatever the system says */
export type LookUpHost = (host: string) => Promise<string>;

/** As the system has it: `/etc/hosts`, then DNS. */
export const lookUpBySystem: LookUpHost = async (host) => (await lookup(host)).address;

export class ServerAddress {
  readonly #place: ServerPlace;
  readonly #isAddress: boolean;
  readonly #lookUp: LookUpHost;
  readonly #clock: Clock;
  /** The look-up under way: the system's cannot be called off, and must not pile up. */
  #underWay: Promise<FoundServer> | undefined;

  constructor(place: ServerPlace, lookUp: LookUpHost, clock: Clock) {
    this.#place = place;
    this.#isAddress = parseAddress(place.host.split('%')[0] ?? '') !== undefined;
    this.#lookUp = lookUp;
    this.#clock = clock;
  }

  /** Never rejects, and is there within the patience of a question. */
  async find(): Promise<FoundServer> {
    const { host, port } = this.#place;
    if (this.#isAddress) return { kind: 'found', endpoint: { address: host, port } };
    this.#underWay ??= this.#lookUpOnce();
    const reason = `dial udp: lookup ${host}: i/o timeout`;
    let patience: Timer | undefined;
    const runOut = new Promise<FoundServer>((resolve) => {
      patience = this.#clock.after(PATIENCE, () => resolve({ kind: 'failed', reason }));
    });
    const found = await Promise.race([this.#underWay, runOut]);
    patience?.cancel();
    return found;
  }

  async #lookUpOnce(): Promise<FoundServer> {
    const { host, port } = this.#place;
    try {
      return { kind: 'found', endpoint: { address: await this.#lookUp(host), port } };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException; // What look-ups of the system fail with.
      const what = code === 'ENOTFOUND' ? 'no such host' : String(code ?? error);
      return { kind: 'failed', reason: `dial udp: lookup ${host}: ${what}` };
    } finally {
      this.#underWay = undefined;
    }
  }
}

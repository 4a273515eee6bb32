/**
 * The network interface that has the addresses of a node's cache.
 *
 * Where the kernel has no interfaces of type `dummy`, the addresses are added to the loopback interface.
 */
import type { Log } from '../../base/log.ts';
import { ProgramError, type RunProgram } from './run-program.ts';

const LOOPBACK = 'lo';

export class NodeInterface {
  readonly #name: string;
  readonly #addresses: readonly string[];
  readonly #run: RunProgram;
  readonly #log: Log;
  /** Where the addresses are; undefined: not set up. */
  #place: string | undefined;
  /** Addresses that were added by us, and are removed again. */
  readonly #added = new Set<string>();

  constructor(name: string, addresses: readonly string[], run: RunProgram, log: Log) {
    this.#name = name;
    this.#addresses = addresses;
    this.#run = run;
    this.#log = log;
  }

  /**
   * Creates what is missing of interface and addresses.
   *
   * @returns whether anything was missing
   * @throws ProgramError
   */
  async set(): Promise<boolean> {
    const place = await this.#makeInterface();
    const present = await this.#addressesOf(place);
    const missing = this.#addresses.filter((address) => !present.has(normalOf(address)));
    for (const address of missing) {
      await this.#ip('addr', 'add', `${address}${address.includes(':') ? '/128' : '/32'}`, 'dev', place);
      this.#added.add(address);
    }
    return missing.length > 0;
  }

  /** @throws ProgramError */
  async remove(): Promise<void> {
    const place = this.#place;
    this.#place = undefined;
    if (place === undefined) return;
    if (place === this.#name) await this.#ip('link', 'del', place);
    else
      for (const address of this.#added)
        await this.#ip('addr', 'del', `${address}${address.includes(':') ? '/128' : '/32'}`, 'dev', place);
    this.#added.clear();
  }

  async #makeInterface(): Promise<string> {
    if (this.#place === LOOPBACK) return LOOPBACK;
    if (await this.#exists()) {
      this.#place = this.#name;
      return this.#name;
    }
    try {
      await this.#ip('link', 'add', this.#name, 'type', 'dummy');
      await this.#ip('link', 'set', this.#name, 'up');
      this.#place = this.#name;
    } catch (error) {
      if (!(error instanceof ProgramError) || !/Unknown device type|not supported/i.test(error.message))
        throw error;
      const reason = 'the kernel has no interfaces of type dummy';
      this.#log.warn('addresses added to the loopback interface', { interface: this.#name, reason });
      this.#place = LOOPBACK;
    }
    return this.#place;
  }

  async #exists(): Promise<boolean> {
    const links = await this.#ip('-o', 'link', 'show');
    return links.split('\n').some((line) => line.split(': ')[1]?.split('@')[0] === this.#name);
  }

  async #addressesOf(place: string): Promise<ReadonlySet<string>> {
    const text = await this.#ip('-o', 'addr', 'show', 'dev', place);
    return new Set([...text.matchAll(/ inet6? ([0-9a-f.:]+)/g)].map(([, address = '']) => address));
  }

  #ip(...words: readonly string[]): Promise<string> {
    return this.#run({ program: 'ip', words });
  }
}

/** As the kernel prints it. */
function normalOf(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

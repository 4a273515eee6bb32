/**
 * The network interface that has the addresses of a node's cache.
 *
 * If the kernel has no interfaces of type `dummy`, the addresses are added to the loopback interface.
 */
import type { Log } from '@portolan/kernel/base/log.ts';
import { ProgramError, type RunProgram } from '@portolan/kernel/base/run-program.ts';

const LOOPBACK = 'lo';
/** Characters that the kernel keeps of a label. */
const MAX_LABEL = 15;
/** What `ip` says of a type of interfaces that the kernel does not have. */
const UNKNOWN_TYPE = /Unknown device type|not supported/i;

export class NodeInterface {
  readonly #name: string;
  readonly #addresses: readonly string[];
  readonly #run: RunProgram;
  readonly #log: Log;
  /** The interface with the addresses; undefined if not set up. */
  #place: string | undefined;
  /** Addresses that we added and will remove. */
  readonly #added = new Set<string>();

  constructor(name: string, addresses: readonly string[], run: RunProgram, log: Log) {
    this.#name = name;
    this.#addresses = addresses;
    this.#run = run;
    this.#log = log;
  }

  /**
   * Creates the interface and addresses that are missing.
   *
   * @returns whether anything was missing
   * @throws ProgramError
   */
  async set(): Promise<boolean> {
    const place = await this.#makeInterface();
    const present = await this.#listAddresses(place);
    const missing = this.#addresses.filter((address) => !present.has(normalizeAddress(address)));
    for (const address of missing) {
      await this.#ip('addr', 'add', toHostPrefix(address), 'dev', place, ...this.#toLabelArguments(address));
      this.#added.add(address);
    }
    // Addresses left by the previous process.
    for (const [address, label] of present) if (label === this.#label) this.#added.add(address);
    return missing.length > 0;
  }

  /** @throws ProgramError */
  async remove(): Promise<void> {
    const place = this.#place;
    this.#place = undefined;
    if (place === undefined) return;
    if (place === this.#name) await this.#ip('link', 'del', place);
    else
      for (const address of this.#added) await this.#ip('addr', 'del', toHostPrefix(address), 'dev', place);
    this.#added.clear();
  }

  async #makeInterface(): Promise<string> {
    if (this.#place === LOOPBACK) return LOOPBACK;
    const flags = await this.#flags();
    if (flags !== undefined) {
      this.#place = this.#name;
      // The original never does this, but IPv6 addresses are not valid until then.
      if (!flags.includes('UP')) await this.#ip('link', 'set', this.#name, 'up');
      return this.#name;
    }
    try {
      await this.#ip('link', 'add', this.#name, 'type', 'dummy');
      await this.#ip('link', 'set', this.#name, 'up');
      this.#place = this.#name;
    } catch (error) {
      const isUnknown = error instanceof ProgramError && UNKNOWN_TYPE.test(error.complaint);
      if (!isUnknown) throw error;
      const reason = 'the kernel has no interfaces of type dummy';
      this.#log.warn('addresses added to the loopback interface', { interface: this.#name, reason });
      this.#place = LOOPBACK;
    }
    return this.#place;
  }

  /** The flags of the interface with our name; undefined if it does not exist. */
  async #flags(): Promise<readonly string[] | undefined> {
    const links = (await this.#ip('-o', 'link', 'show')).split('\n').map((line) => line.split(': '));
    const link = links.find(([, name = '']) => name.split('@')[0] === this.#name);
    return link && (/<(.*?)>/.exec(link[2] ?? '')?.[1]?.split(',') ?? []);
  }

  /** The addresses with their labels, which only IPv4 addresses have. */
  async #listAddresses(place: string): Promise<ReadonlyMap<string, string | undefined>> {
    const lines = (await this.#ip('-o', 'addr', 'show', 'dev', place)).split('\n');
    const matches = lines.flatMap((line) => {
      const [, address] = / inet6? ([0-9a-f.:]+)/.exec(line) ?? [];
      return address === undefined ? [] : [[address, / (\S+)\\/.exec(line)?.[1]] as const];
    });
    return new Map(matches);
  }

  /** Marks our addresses on the loopback interface, which also has addresses of others. */
  get #label(): string {
    return `${LOOPBACK}:${this.#name}`.slice(0, MAX_LABEL);
  }

  #toLabelArguments(address: string): readonly string[] {
    return this.#place === LOOPBACK && !address.includes(':') ? ['label', this.#label] : [];
  }

  #ip(...words: readonly string[]): Promise<string> {
    return this.#run({ program: 'ip', words });
  }
}

const toHostPrefix = (address: string): string => `${address}${address.includes(':') ? '/128' : '/32'}`;

/** The address as the kernel prints it. */
function normalizeAddress(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

/**
 * Services of which each plugin has its own: what it opens ends with the plugin.
 */
import type { Service } from '@portolan/plugin';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';

/** The plugin that uses a service. */
export interface ServiceUser {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
}

interface OpenService {
  readonly value: unknown;
  stop(): void | Promise<void>;
}

export interface OwnedService {
  readonly name: string;
  open(user: ServiceUser): OpenService;
}

export function ownService<Value>(
  { name }: Service<Value>,
  open: (user: ServiceUser) => { readonly value: Value; stop(): void | Promise<void> },
): OwnedService {
  return { name, open };
}

/** The services that one plugin uses. */
export class UsedServices {
  readonly #offered: readonly OwnedService[];
  readonly #user: ServiceUser;
  /** Undefined: none was used yet. */
  #open: Map<string, OpenService> | undefined;
  #isStopped = false;

  constructor(offered: readonly OwnedService[], user: ServiceUser) {
    this.#offered = offered;
    this.#user = user;
  }

  has(name: string): boolean {
    return this.#offered.some((service) => service.name === name);
  }

  /** Undefined: there is none. @throws Error because the plugin has stopped: nothing would end the service */
  find(name: string): unknown {
    if (this.#isStopped) throw new Error(`the plugin has stopped, and opens no service: ${name}`);
    const known = this.#open?.get(name);
    if (known !== undefined) return known.value;
    const opened = this.#offered.find((service) => service.name === name)?.open(this.#user);
    if (opened !== undefined) this.#open = (this.#open ?? new Map()).set(name, opened);
    return opened?.value;
  }

  /**
   * Stops all of them, one after the other.
   *
   * @throws Error with the names of those that failed, once all have been stopped
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const open = [...(this.#open ?? [])];
    this.#open = undefined;
    const failures: { readonly name: string; readonly error: unknown }[] = [];
    for (const [name, service] of open)
      try {
        await service.stop();
      } catch (error) {
        failures.push({ name, error });
      }
    if (failures.length === 0) return;
    const reasons = failures.map(({ name, error }) => `${name}: ${describeError(error)}`);
    const [first] = failures;
    throw new Error(`services not stopped: ${reasons.join('; ')}`, { cause: first?.error });
  }
}

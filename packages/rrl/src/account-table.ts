/**
 * Accounts, one for each kind of response to a network: each response is debited, and time credits it.
 */

/** `no room`: there is no room for its account, so it is not limited. */
export type Debit = 'within' | 'exceeded' | 'slips' | 'no room';

interface NetworkAccount {
  /** The next one is within the rate from this time on, in milliseconds. */
  allowedAt: number;
  /** 1: the next one that exceeds the rate slips through. 0: none does. */
  untilSlip: number;
}

export interface AccountTableOptions {
  /** Milliseconds: an account is at most so much in debt. */
  readonly window: number;
  /** Every so manieth that exceeds the rate slips through; 0: none. */
  readonly slipRatio: number;
  readonly maxSize: number;
  /** Milliseconds that only grow. */
  readonly now: () => number;
}

/** Milliseconds: what an account may have saved. */
const CREDIT = 1_000;
/** Accounts that are looked at for room: more would take time for each query of a flood. */
const LOOKED_AT = 4;

export class AccountTable {
  readonly #options: AccountTableOptions;
  /** The one that was used longest ago is first. */
  readonly #accounts = new Map<string, NetworkAccount>();

  constructor(options: AccountTableOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#accounts.size;
  }

  /** @param interval milliseconds between two within the rate */
  debit(name: string, interval: number): Debit {
    const { window, slipRatio, now } = this.#options;
    const time = now();
    const account = this.#accounts.get(name);
    if (account === undefined) {
      if (!this.#makeRoom(time)) return 'no room';
      this.#accounts.set(name, { allowedAt: time - CREDIT + interval, untilSlip: slipRatio });
      return 'within';
    }
    this.#accounts.delete(name);
    this.#accounts.set(name, account);
    const most = Math.max(CREDIT - interval, 0);
    const balance = Math.max(Math.min(time - account.allowedAt - interval, most), -window);
    account.allowedAt = time - balance;
    if (balance >= 0) return 'within';
    if (account.untilSlip === 0) return 'exceeded';
    account.untilSlip -= 1;
    if (account.untilSlip > 0) return 'exceeded';
    account.untilSlip = slipRatio;
    return 'slips';
  }

  /** An account that has saved for a whole window is as good as a new one. */
  #makeRoom(time: number): boolean {
    const { maxSize, window } = this.#options;
    if (this.#accounts.size < maxSize) return true;
    let looked = 0;
    for (const [name, { allowedAt }] of this.#accounts) {
      if (time - allowedAt >= window) {
        this.#accounts.delete(name);
        return true;
      }
      looked += 1;
      if (looked === LOOKED_AT) return false;
    }
    return false;
  }
}

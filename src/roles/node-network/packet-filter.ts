/**
 * A packet filter of the kernel that gets the rules of a node's cache.
 */
export interface PacketFilter {
  /** For logs: `nftables`, `iptables`. */
  readonly name: string;
  /** Whether the rules stand, as far as is known: set, and neither removed nor ended since. */
  readonly isSet: boolean;
  /**
   * Sets what is missing of the rules, as a whole. Rules of others are not touched.
   *
   * @returns whether anything was missing
   * @throws ProgramError
   */
  set(): Promise<boolean>;
  /**
   * Removes all of the rules.
   *
   * @throws ProgramError
   */
  remove(): Promise<void>;
  /** Leaves to others what may outlive this process. */
  leave(): void;
}

/**
 * A packet filter of the kernel for the rules of a node's cache.
 */
export interface PacketFilter {
  /** For logs: `nftables`, `iptables`. */
  readonly name: string;
  /** Whether the rules are active, as far as is known. */
  readonly isSet: boolean;
  /**
   * Sets the missing rules in one step. Does not touch rules of others.
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
  /** Leaves rules that can outlive this process to another one. */
  leave(): void;
}

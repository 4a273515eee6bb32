/**
 * What server blocks and the readers of their answers do, as far as the restored deviations of a plan decide it.
 */
import { isLeftToChain, type RestoredDeviations } from '../../deviations/table.ts';

export interface BlockRules {
  /** Whether readers answer the names of publications. */
  readonly readersAnswerNames: boolean;
  /** Whether readers forward questions. */
  readonly readersForward: boolean;
  /** Whether readers repeat answers to queries whose length a plugin has changed. The plugins count and log that length. */
  readonly readersRepeatResized: boolean;
  readonly sendsExtendedErrors: boolean;
  /** Whether responses over UDP have a bound besides the size that the client offers. */
  readonly boundsUdpSize: boolean;
  /** Whether an answer counts for the plugin that made it, rather than for the one behind the plugin that counts queries. */
  readonly countsByAnsweringPlugin: boolean;
  /** Whether plugins take over what those of the plan before have. */
  readonly keepsState: boolean;
}

export function findBlockRules(restored: RestoredDeviations): BlockRules {
  return {
    readersAnswerNames: !isLeftToChain('names', restored),
    readersForward: !isLeftToChain('forwarding', restored),
    readersRepeatResized: !restored.has('size-as-received'),
    sendsExtendedErrors: !restored.has('extended-errors'),
    boundsUdpSize: !restored.has('udp-size-bound'),
    countsByAnsweringPlugin: !restored.has('plugin-label'),
    keepsState: !restored.has('reload-keeps-state'),
  };
}

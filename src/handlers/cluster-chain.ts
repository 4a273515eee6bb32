/**
 * The handlers of a server that knows a cluster and nothing else, in their order.
 */
import { type Chain, composeChain } from '../chain/chain.ts';
import type { Clock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { createAliasFollower } from './aliases.ts';
import { answerAnyMinimally, refuseAny } from './any.ts';
import { type ClusterSource, createClusterHandler } from './cluster.ts';
import { checkQuestionKind } from './question-kinds.ts';

export function createClusterChain(
  cluster: ClusterSource,
  dialect: 'coredns' | 'kube-dns',
  log: Log,
  clock: Clock,
): Chain {
  return composeChain([
    checkQuestionKind,
    dialect === 'coredns' ? answerAnyMinimally : refuseAny,
    createAliasFollower(log, clock),
    createClusterHandler(cluster),
  ]);
}

/**
 * The handlers of a server that knows a cluster, in their order; and behind them what it knows of the rest of the world.
 */
import { type Chain, composeChain, type Handler } from '../chain/chain.ts';
import type { Clock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import type { NameKey, Question } from '../wire/types.ts';
import { createAliasFollower } from './aliases.ts';
import { answerAnyMinimally, refuseAny } from './any.ts';
import { type ClusterSource, createClusterHandler } from './cluster.ts';
import { createFederationHandler, type FederationSource } from './federation/federation.ts';
import { checkQuestionKind } from './question-kinds.ts';
import { createTypeHider, type HiddenTypes } from './resolver/hidden-types.ts';

/** Those who answer what the cluster does not. `Resolver` does the work. */
export interface Outside {
  /** Whether a name that lies in one of our zones is theirs all the same. */
  isElsewhere(name: NameKey): boolean;
  isOwnProbe(question: Question): boolean;
  /** Answers what people have written down of a name, whosever it is. */
  readonly knownNames: Handler;
  readonly answer: Chain;
}

export interface ClusterChainOptions {
  readonly cluster: ClusterSource;
  readonly dialect: 'coredns' | 'kube-dns';
  readonly federations?: FederationSource;
  /** Answers class CHAOS; without it that is refused. */
  readonly chaos?: Handler | undefined;
  /** Types that nobody is to be told of our names. */
  readonly hiddenTypes?: HiddenTypes;
  /** Without it all other names are refused. */
  readonly outside?: Outside | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export function createClusterChain(options: ClusterChainOptions): Chain {
  const { cluster, dialect, federations, chaos, hiddenTypes, outside, clock, log } = options;
  const isElsewhere = (name: NameKey) => outside?.isElsewhere(name) ?? false;
  const isOurs = (name: NameKey) => !isElsewhere(name) && cluster.names.owns(name);
  const handlers: Handler[] = [
    checkQuestionKind,
    when(isOurs, dialect === 'coredns' ? answerAnyMinimally : refuseAny),
  ];
  if (chaos !== undefined) handlers.unshift(chaos);
  if (outside !== undefined) handlers.unshift(dropOwnProbes(outside));
  if (hiddenTypes !== undefined && hiddenTypes.size > 0)
    handlers.push(when(isOurs, createTypeHider(hiddenTypes)));
  handlers.push(createAliasFollower(log, clock));
  if (outside !== undefined) handlers.push(outside.knownNames);
  if (federations !== undefined) {
    const federation = createFederationHandler({ federations, cluster, clock, log });
    handlers.push(when((name) => !isElsewhere(name), federation));
  }
  handlers.push(when((name) => !isElsewhere(name), createClusterHandler(cluster)));
  if (outside !== undefined) handlers.push((query) => outside.answer(query));
  return composeChain(handlers);
}

/** Leaves a handler out for all other names. */
function when(concerns: (name: NameKey) => boolean, handler: Handler): Handler {
  return (query, next) => (concerns(query.key) ? handler(query, next) : next(query));
}

/** A server that sends our own queries back to us gets no answer. */
function dropOwnProbes(outside: Outside): Handler {
  return (query, next) => (outside.isOwnProbe(query.question) ? { kind: 'drop' } : next(query));
}

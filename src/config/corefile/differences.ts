/**
 * The settings of a Corefile whose questions Portolan answers otherwise than CoreDNS, for a survey.
 *
 * docs/explanation/dialects.md has the whole list with reasons.
 */
import { directivesOf } from '../../plugins/forward/options.ts';
import type { CorefilePluginName, CorefilePluginOptions, CorefileUse } from '../../plugins/registry.ts';

export interface Difference {
  readonly plugin: CorefilePluginName;
  /** A whole sentence. */
  readonly text: string;
  /** `always`: also with `-compat`. */
  readonly remains: 'without -compat' | 'always';
}

interface DifferenceRule extends Difference {
  readonly concerns: (use: CorefileUse) => boolean;
}

function rule<Name extends CorefilePluginName>(
  plugin: Name,
  remains: Difference['remains'],
  text: string,
  concerns: (options: CorefilePluginOptions[Name]) => boolean = () => true,
): DifferenceRule {
  return {
    ...{ plugin, remains, text },
    // The name of a plugin determines the type of its options.
    concerns: (use) => use.name === plugin && concerns(use.options as CorefilePluginOptions[Name]),
  };
}

const RULES: readonly DifferenceRule[] = [
  rule(
    'kubernetes',
    'without -compat',
    'Names with names below them, and other types of names that exist, are NODATA where CoreDNS says NXDOMAIN.',
  ),
  rule(
    'kubernetes',
    'without -compat',
    'Loopback, link-local, multicast and metadata addresses have no reverse name, whoever lists them as endpoints.',
  ),
  rule(
    'kubernetes',
    'without -compat',
    'Until the cluster is listed, its names are SERVFAIL where CoreDNS passes them on.',
    ({ fallthrough }) => fallthrough.length > 0,
  ),
  rule(
    'k8s_external',
    'without -compat',
    'The serial number is the time of the last change, and a service has one alias at most, alone.',
  ),
  rule(
    'k8s_external',
    'always',
    'A transferred zone has the records that its questions are answered with, and changes are notified.',
  ),
  rule(
    'cache',
    'without -compat',
    'Answers about the cluster are dropped when its objects change; CoreDNS keeps them for their TTL.',
  ),
  rule(
    'cache',
    'without -compat',
    'Negative answers are kept for the minimum in their SOA record at most, and MINTTL raises that only if it is given.',
  ),
  rule(
    'forward',
    'without -compat',
    'A lost query is sent again at once, equal questions are asked once, and foreign records of a reply are dropped.',
  ),
  rule(
    'forward',
    'without -compat',
    'health_check and max_fails take no server out: the replies to real questions judge it.',
    (options) =>
      directivesOf(options).some(
        ({ maxFails, healthCheck }) => maxFails !== 2 || healthCheck.interval !== 500,
      ),
  ),
  rule('file', 'without -compat', 'Records of $GENERATE have the TTL of $TTL, not 3600.'),
  rule(
    'template',
    'always',
    'An alias to the question itself is not followed, and at most 32 names are asked for.',
    ({ templates }) => templates.some(({ answer }) => answer.length > 0),
  ),
  rule(
    'rewrite',
    'always',
    'Each reference such as {1} is filled in once, and an answer whose name would be invalid keeps its name.',
  ),
  rule(
    'chaos',
    'always',
    "authors.bind names Portolan's authors.",
    (options) => options.kind === 'coredns' && options.authors === undefined,
  ),
];

/** The differences that the plugins of a server block bring. */
export function findDifferences(plugins: readonly CorefileUse[]): readonly Difference[] {
  return plugins.flatMap((use) =>
    RULES.filter(({ concerns }) => concerns(use)).map(({ plugin, text, remains }) => ({
      ...{ plugin, text, remains },
    })),
  );
}

/**
 * The lists of dnsmasq's options in the documentation are generated from the table of the program's parser.
 *
 * After a change of the options: `npx vitest run test/docs -u`.
 */
import type { Option, OptionStanding } from '@portolan/frontends/dnsmasq/settings/option.ts';
import { allOptions, ownOptions } from '@portolan/frontends/dnsmasq/settings/option-table.ts';
import { SERVE_FLAGS } from '@portolan/frontends/serve/settings/serve-flags.ts';
import { expect, it } from 'vitest';

const HEAD = `# dnsmasq's options

All options of dnsmasq 2.90 for \`portolan dnsmasq\` and \`portolan serve --dnsmasq-conf\`, on the command line and in files.

<!-- Made from packages/frontends/src/dnsmasq/settings/option-table.ts by test/docs/dnsmasq-options.test.ts. -->
`;

const options = allOptions.toSorted((one, other) => (one.name < other.name ? -1 : 1));

function formatForm({ name, shows, takes }: Option): string {
  const value = shows ?? (takes === 'value' ? '=<value>' : takes === 'nothing' ? '' : '[=<value>]');
  return `--${name}${value}`;
}

/** The whole form, with short and further ones. */
function formatForms(option: Option): string {
  const { short, aliases = [] } = option;
  const forms = [
    short === undefined ? [] : `-${short}`,
    formatForm(option),
    ...aliases.map((alias) => `--${alias}`),
  ];
  return forms
    .flat()
    .map((form) => `\`${form}\``)
    .join(', ');
}

/** The long form, with the short one in parentheses. */
function formatName({ name, short }: Option): string {
  return `\`--${name}\`${short === undefined ? '' : ` (\`-${short}\`)`}`;
}

/** The options that have a reason, a line for each reason. */
function groupByReason(reasonFor: (standing: OptionStanding) => string | undefined): string {
  const groups = new Map<string, string[]>();
  for (const option of options) {
    const why = reasonFor(option.standing);
    if (why !== undefined) groups.set(why, [...(groups.get(why) ?? []), formatName(option)]);
  }
  return [...groups]
    .map(([why, names]) => `- ${why.charAt(0).toUpperCase()}${why.slice(1)}: ${names.join(', ')}.`)
    .join('\n');
}

const findCauseOfNoEffect = (standing: OptionStanding): string | undefined =>
  standing.kind === 'no-effect' || standing.kind === 'ignored' ? standing.why : undefined;
const findCauseOfRefusal = (standing: OptionStanding): string | undefined =>
  standing.kind === 'refused' ? standing.what : undefined;

const isOwn = ({ name }: Option): boolean => ownOptions.has(name);
const works = ({ standing: { kind } }: Option): boolean => kind === 'works' || kind === 'reading';

it('has the own options as flags of serve', () => {
  const flags = new Set<string>(SERVE_FLAGS.map(({ name }) => name));
  expect([...ownOptions].filter((name) => !flags.has(name))).toEqual([]);
  expect(options.filter(isOwn).filter((option) => !works(option))).toEqual([]);
});

it('docs/reference/dnsmasq-options.md lists every option', async () => {
  const own = options.filter(isOwn).map(formatName).join(', ');
  const theirs = options.filter((option) => works(option) && !isOwn(option));
  const meanings = theirs.map((option) => `- ${formatForms(option)}: ${option.means}.`);
  const sections = [
    [
      'Options that work',
      `They work as in dnsmasq, but for [differences](dnsmasq.md#what-differs-from-dnsmasq-290).\n\n${meanings.join('\n')}`,
    ],
    ["Portolan's own", `They are [flags of \`portolan serve\`](flags.md): ${own}.`],
    ['Options without effect', `The log says so at the start.\n\n${groupByReason(findCauseOfNoEffect)}`],
    ['Options that are refused', `They are an error at the start.\n\n${groupByReason(findCauseOfRefusal)}`],
  ];
  const page = HEAD + sections.map(([title, text]) => `\n## ${title}\n\n${text}\n`).join('');
  const names = options.map(({ name }) => name);
  expect(names.filter((name) => page.match(new RegExp(`\`--${name}[\`=[]`, 'g'))?.length !== 1)).toEqual([]);
  await expect(page).toMatchFileSnapshot('../../docs/reference/dnsmasq-options.md');
});

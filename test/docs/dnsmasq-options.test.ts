/**
 * The table of dnsmasq's options in the documentation is generated from the table of the program's parser.
 *
 * After a change of the options: `npx vitest run test/docs -u`.
 */
import type { Option } from '@portolan/frontends/dnsmasq/settings/option.ts';
import { allOptions } from '@portolan/frontends/dnsmasq/settings/option-table.ts';
import { expect, it } from 'vitest';

const HEAD = `# dnsmasq's options

All options of dnsmasq 2.90, on the command line and in files, and what \`portolan dnsmasq\` and \`portolan serve --dnsmasq-conf\` do
with each: it *works* as in dnsmasq, it is accepted with *no effect* (which the log says at the start), or it is *refused* (an error at
the start, with the reason). [What differs from dnsmasq](dnsmasq.md#what-differs-from-dnsmasq-290) is on another page.

<!-- Made from packages/frontends/src/dnsmasq/settings/option-table.ts by test/docs/dnsmasq-options.test.ts. -->

| option | effect | meaning |
|---|---|---|
`;

function describeForms({ name, aliases = [], short, shows, takes }: Option): string {
  const value = shows ?? (takes === 'value' ? '=<value>' : takes === 'nothing' ? '' : '[=<value>]');
  const forms = [
    ...(short === undefined ? [] : [`-${short}`]),
    `--${name}${value}`,
    ...aliases.map((alias) => `--${alias}`),
  ];
  return forms.map((form) => `\`${form.replaceAll('|', '\\|')}\``).join(', ');
}

function describeEffect({ standing }: Option): string {
  if (standing.kind === 'no-effect' || standing.kind === 'ignored') return `no effect: ${standing.why}`;
  if (standing.kind === 'refused') return `refused: ${standing.what}`;
  return 'works';
}

function describeOption(option: Option): string {
  // What an option is for that is refused or ignored is the reason for it.
  const meaning = ['refused', 'ignored'].includes(option.standing.kind) ? '' : option.means;
  return `| ${describeForms(option)} | ${describeEffect(option)} | ${meaning.replaceAll('|', '\\|')} |\n`;
}

it('docs/reference/dnsmasq-options.md lists every option', async () => {
  const options = allOptions.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  await expect(HEAD + options.map(describeOption).join('')).toMatchFileSnapshot(
    '../../docs/reference/dnsmasq-options.md',
  );
});

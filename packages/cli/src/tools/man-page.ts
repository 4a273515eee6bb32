/**
 * The man page, in the macros of man(7), which groff and mandoc read.
 */
import { type Flag, formatFlag } from '@portolan/server/settings/flags/flag.ts';
import { formatFlagRow } from '@portolan/server/settings/flags/flag-text.ts';
import { type DescribedCommand, listShownFlags } from './described-command.ts';

/** @param version of this program */
export function manPage(version: string, commands: readonly DescribedCommand[]): string {
  return [
    `.TH PORTOLAN 1 "" "portolan ${escapeRoff(version)}" "User Commands"`,
    // Ragged right: lines with long values cannot be adjusted.
    '.ad l',
    '.SH NAME',
    'portolan \\- DNS server of a Kubernetes cluster',
    '.SH SYNOPSIS',
    '.B portolan',
    '.I command',
    '.RI [ flags ]',
    '.SH DESCRIPTION',
    escapeRoff(
      'Portolan serves the zone of a Kubernetes cluster as CoreDNS or kube-dns does, and forwards, caches and filters all other queries.',
    ),
    'Each command prints its flags with',
    '.BR \\-\\-help .',
    '.SH COMMANDS',
    ...commands.flatMap(({ name, summary }) => ['.TP', `.B ${escapeRoff(name)}`, sentence(summary)]),
    ...commands.filter((command) => listShownFlags(command).length > 0).flatMap(formatSection),
    '.SH EXAMPLES',
    '.nf',
    ...commands.flatMap(({ examples = [] }) => examples.map(escapeRoff)),
    '.fi',
    '.SH SIGNALS',
    ...describeSignals(),
    '.SH EXIT STATUS',
    '.TP',
    '.B 0',
    'The command succeeded.',
    '.TP',
    '.B 1',
    escapeRoff(
      'No: it failed, as with a port in use; the name does not resolve; a problem or a difference was found.',
    ),
    '.TP',
    '.B 2',
    'A flag or an argument is wrong.',
    '.TP',
    '.B 3',
    escapeRoff('Not known: no server or no cluster could be asked.'),
    '.PP',
    '.B portolan dnsmasq',
    'exits as dnsmasq does: 1 configuration, 2 network, 3 files, 5 anything else.',
    '.SH SEE ALSO',
    '.BR dig (1),',
    '.BR dnsmasq (8),',
    '.BR resolv.conf (5)',
    '',
  ].join('\n');
}

function describeSignals(): readonly string[] {
  return [
    '.TP',
    '.BR SIGTERM ", " SIGINT',
    'Stop; a second one ends the process at once.',
    '.TP',
    '.B SIGUSR1',
    'Log statistics.',
    '.TP',
    '.B SIGHUP',
    escapeRoff('In dnsmasq, read hosts files and resolv files again.'),
    '.TP',
    '.B SIGUSR2',
    escapeRoff('In dnsmasq, open the log file again.'),
  ];
}

function formatSection(command: DescribedCommand): readonly string[] {
  const { name, dashes, further, subcommands = [] } = command;
  const flags = listShownFlags({ ...command, subcommands: [] });
  const formatEntries = (some: readonly Flag[]) => some.flatMap((flag) => formatEntry(flag, dashes));
  // The many flags of `serve` are grouped by the headings of its help.
  const groups = name === 'serve' ? [...new Set(flags.map(({ group }) => group))] : [];
  const lines = [`.SH "FLAGS OF ${name.toUpperCase()}"`];
  for (const group of groups) {
    if (group !== undefined) lines.push(`.SS "${escapeRoff(group)}"`);
    lines.push(...formatEntries(flags.filter((flag) => flag.group === group)));
  }
  if (groups.length === 0) lines.push(...formatEntries(flags));
  for (const subcommand of subcommands.filter((each) => each.flags.length > 0))
    lines.push(`.SS "${escapeRoff(`${name} ${subcommand.name}`)}"`, ...formatEntries(subcommand.flags));
  if (further !== undefined) lines.push('.PP', escapeRoff(`Flags of ${further.of} are accepted too.`));
  return lines;
}

function formatEntry(flag: Flag, dashes: string): readonly string[] {
  const [, meaning] = formatFlagRow(flag, dashes);
  return ['.TP', `.B ${escapeRoff(formatFlag(flag, dashes))}`, sentence(meaning)];
}

function sentence(text: string): string {
  return escapeRoff(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

/**
 * Escapes backslashes and hyphens, and lines that begin with a dot or an apostrophe, which would be requests. Allows line breaks after
 * commas inside words, as in JSON.
 */
function escapeRoff(text: string): string {
  const literal = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
  return literal.replace(/,(?=["{])/g, ',\\:');
}

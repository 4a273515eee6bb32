/**
 * Shell completions: commands, their flags, and the values of flags if they can be listed.
 */
import { type Flag, listSuggestions } from '@portolan/server/settings/flags/flag.ts';
import { type DescribedCommand, listFirstWords, listShownFlags } from './described-command.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The completion script, which the shell reads at start. */
export function completionScript(shell: Shell, commands: readonly DescribedCommand[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      return zshScript(commands);
    case 'fish':
      return fishScript(commands);
  }
}

/** All flags that a command takes. */
function listFlags(command: DescribedCommand): readonly Flag[] {
  return [...listShownFlags(command), ...(command.further?.flags ?? [])];
}

type CompletedPaths = 'files' | 'folders' | 'none';

/** The kinds of paths that a flag accepts; for files, offer folders too. */
function toCompletedPaths({ value }: Flag): CompletedPaths {
  if (value === 'none') return 'none';
  if (value.kind === 'folder') return 'folders';
  return value.kind === 'file' || value.kind === 'path' ? 'files' : 'none';
}

function bashScript(commands: readonly DescribedCommand[]): string {
  const values = commands.flatMap((command) =>
    listFlags(command).flatMap((flag) => {
      // An optional value is part of the flag's own word.
      if (flag.value === 'none' || flag.impliedValue !== undefined) return [];
      return [
        `    ${quote(`${command.name} ${command.dashes}${flag.name}`)}) ${bashReply(flag)} return ;;\n`,
      ];
    }),
  );
  const first = commands.flatMap((command) => {
    const words = listFirstWords(command).join(' ');
    return words === '' ? [] : [`      ${command.name}) first=${quote(words)} ;;\n`];
  });
  const flags = commands.map((command) => {
    const words = [...listFlags(command).map(({ name }) => `${command.dashes}${name}`), '--help'];
    return `    ${command.name}) COMPREPLY=($(compgen -W "$first "${quote(words.join(' '))} -- "$current")) ;;\n`;
  });
  return `# Completions of portolan for bash: source <(portolan completion bash)
_portolan() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" first=
  # Of --flag=value bash makes three words.
  if [[ $current == = ]]; then current=; elif [[ $previous == = ]]; then previous="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ${quote(commands.map(({ name }) => name).join(' '))} -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]} $previous" in
${values.join('')}  esac
  if ((COMP_CWORD == 2)); then
    case "\${COMP_WORDS[1]}" in
${first.join('')}    esac
  fi
  case "\${COMP_WORDS[1]}" in
${flags.join('')}  esac
}
complete -o default -F _portolan portolan
`;
}

function bashReply(flag: Flag): string {
  const choices = listSuggestions(flag);
  if (choices.length > 0) return `COMPREPLY=($(compgen -W ${quote(choices.join(' '))} -- "$current"));`;
  // Without a reply for other values, bash offers files.
  return toCompletedPaths(flag) === 'folders' ? 'COMPREPLY=($(compgen -d -- "$current"));' : '';
}

function zshScript(commands: readonly DescribedCommand[]): string {
  const summaries = commands.map(
    ({ name, summary }) => `    ${quote(`${name}:${summary.replaceAll(':', '\\:')}`)}\n`,
  );
  const cases = commands.map((command) => {
    const words = listFirstWords(command).join(' ');
    const specifications = [
      ...(words === '' ? [] : [`1:word:(${words})`]),
      ...listFlags(command).map((flag) => zshFlag(command, flag)),
    ].map((specification) => `        ${quote(specification)}`);
    const all = [...specifications, `        ${quote(`(- *)--help[print the help]`)}`].join(' \\\n');
    return `    ${command.name})\n      _arguments \\\n${all}\n      ;;\n`;
  });
  return `#compdef portolan
# Completions of portolan for zsh: portolan completion zsh > "\${fpath[1]}/_portolan"
_portolan() {
  local -a commands=(
${summaries.join('')}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command="\${words[2]}"
  shift words
  ((CURRENT -= 1))
  case "$command" in
${cases.join('')}  esac
}
compdef _portolan portolan
`;
}

function zshFlag({ dashes }: DescribedCommand, flag: Flag): string {
  const help = flag.help.replaceAll(/[[\]:\\]/g, '\\$&');
  if (flag.value === 'none') return `${dashes}${flag.name}[${help}]`;
  const repeats = flag.repeats === true ? '*' : '';
  // In zsh, a dash after `=` keeps the value in the same word; two colons make it optional.
  const [joint, colon] = flag.impliedValue === undefined ? ['=', ':'] : ['=-', '::'];
  const choices = listSuggestions(flag);
  const paths = { files: '_files', folders: '_files -/', none: ' ' }[toCompletedPaths(flag)];
  const values = choices.length > 0 ? `(${choices.join(' ')})` : paths;
  const message = flag.valueName.replaceAll(/[:\\]/g, '\\$&');
  return `${repeats}${dashes}${flag.name}${joint}[${help}]${colon}${message}:${values}`;
}

function fishScript(commands: readonly DescribedCommand[]): string {
  const summaries = commands.map(
    ({ name, summary }) =>
      `complete -c portolan -n __fish_use_subcommand -f -a ${name} -d ${fishQuote(summary)}\n`,
  );
  const flags = commands.flatMap((command) => {
    const condition = fishQuote(`__fish_seen_subcommand_from ${command.name}`);
    const form = command.dashes === '-' ? '-o' : '-l';
    const words = listFirstWords(command).join(' ');
    return [
      ...(words === '' ? [] : [`complete -c portolan -n ${condition} -f -a ${fishQuote(words)}\n`]),
      ...listFlags(command).map(
        (flag) =>
          `complete -c portolan -n ${condition} ${form} ${flag.name}${fishValue(flag)} -d ${fishQuote(flag.help)}\n`,
      ),
    ];
  });
  return `# Completions of portolan for fish: portolan completion fish > ~/.config/fish/completions/portolan.fish
${summaries.join('')}${flags.join('')}complete -c portolan -s h -l help -d 'print the help'
`;
}

function fishValue(flag: Flag): string {
  if (flag.value === 'none' || flag.impliedValue !== undefined) return '';
  const choices = listSuggestions(flag);
  if (choices.length > 0) return ` -x -a ${fishQuote(choices.join(' '))}`;
  const paths = { files: ' -r -F', folders: " -x -a '(__fish_complete_directories)'", none: ' -x' };
  return paths[toCompletedPaths(flag)];
}

/** Quotes for bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}

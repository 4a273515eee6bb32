/**
 * Makes a systemd unit that runs a command with given flags.
 */
export const UNIT_COMMANDS = ['serve', 'dnsmasq'] as const;
export type UnitCommand = (typeof UNIT_COMMANDS)[number];

/** Lines that differ between the commands. */
const SERVICE: Readonly<Record<UnitCommand, readonly string[]>> = {
  serve: [
    'ExecReload=/bin/kill -HUP $MAINPID',
    '# A wrong flag stays wrong.',
    'RestartPreventExitStatus=2',
    'DynamicUser=yes',
    'AmbientCapabilities=CAP_NET_BIND_SERVICE',
    'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
    'StateDirectory=portolan',
  ],
  dnsmasq: [
    'ExecReload=/bin/kill -HUP $MAINPID',
    '# A wrong option stays wrong.',
    'RestartPreventExitStatus=1',
    '# It becomes the user of --user once its sockets are open.',
    'CapabilityBoundingSet=CAP_NET_BIND_SERVICE CAP_SETUID CAP_SETGID CAP_CHOWN CAP_DAC_OVERRIDE',
    'RuntimeDirectory=dnsmasq',
  ],
};

/**
 * @param program the absolute paths that run the program
 * @param flags of the command, already checked
 */
export function systemdUnit(
  { command, summary }: { readonly command: UnitCommand; readonly summary: string },
  program: readonly string[],
  flags: readonly string[],
): string {
  // systemd supervises the process itself, which must stay in the foreground.
  const words = [...program, command, ...(command === 'dnsmasq' ? ['--keep-in-foreground'] : []), ...flags];
  return `# Made by: portolan systemd ${[command, ...flags].join(' ')}
[Unit]
Description=Portolan: ${summary}
Documentation=man:portolan(1)
Wants=network-online.target nss-lookup.target
After=network-online.target
Before=nss-lookup.target

[Service]
Type=exec
ExecStart=${words.map(quoteWord).join(' ')}
Restart=on-failure
${SERVICE[command].join('\n')}
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectControlGroups=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`;
}

/** Quotes one word of a command line as in systemd.service(5). */
function quoteWord(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w\-./:=,@%$#+]+$/.test(escaped) ? escaped : `"${escaped.replaceAll(/["\\]/g, '\\$&')}"`;
}

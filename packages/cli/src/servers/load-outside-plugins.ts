/**
 * Loads the plugins of others that `-plugin` names. Only the command line names them, never a Corefile, and nothing is fetched.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { types } from 'node:util';
import { findDefinition, registerPlugin } from '@portolan/frontends/plugins/registry.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { needPrograms } from '@portolan/kernel/base/other-programs.ts';
import type { PluginDefinition } from '@portolan/plugin';
import { ExitError } from '../grammar/exit.ts';
import { packageFolder } from '../process/package-folder.ts';

/** Where an image has its packages. */
const FOLDERS = ['/plugins', process.cwd()];

/** `NAME=MODULE[:before=WORD]` */
const FORM = /^([a-z][a-z0-9_]*)=(.+?)(?::before=([a-z0-9_]+))?$/;

/** For modules that are not definitions, or definitions for another API. */
const REMEDY =
  'Write export default definePlugin({ … }), of @portolan/plugin 2; packages/plugin/README.md says what changed since version 1.';

/** @throws Error with the flag, the reason and a remedy */
export async function loadOutsidePlugins(texts: readonly string[]): Promise<void> {
  if (texts.length > 0) needPrograms('plugins of others may run programs');
  for (const text of texts) {
    const [, name, specifier, before] = FORM.exec(text) ?? [];
    if (name === undefined || specifier === undefined)
      throw refusal(text, 'not NAME=MODULE[:before=WORD]', 'Write it as in records=/plugins/records.js.');
    if (findDefinition(name) !== undefined)
      throw refusal(text, `there is a plugin ${name}`, 'Give each plugin once, under a name of its own.');
    await load(text, { name, specifier, before });
  }
}

/** The same for commands that only read Corefiles. @throws ExitError with 1, after the reason */
export async function loadPluginsOrExit({
  plugin = [],
}: {
  readonly plugin?: readonly string[];
}): Promise<void> {
  try {
    await loadOutsidePlugins(plugin);
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`);
    throw new ExitError(1);
  }
}

interface WantedPlugin {
  readonly name: string;
  readonly specifier: string;
  readonly before: string | undefined;
}

async function load(text: string, { name, specifier, before }: WantedPlugin): Promise<void> {
  const module = await importModule(text, specifier);
  const { findDefinitionFault, guardPlugin } = await import('@portolan/corefile/definition/guard-plugin.ts');
  const fault = findDefinitionFault(module);
  if (fault !== undefined) throw refusal(text, fault, REMEDY);
  // The shape was checked.
  const definition = module as PluginDefinition;
  const { name: own } = definition;
  if (own !== name)
    throw refusal(text, `its name is ${own}`, `Write -plugin=${own}=${text.slice(text.indexOf('=') + 1)}.`);
  const next = before ?? definition.before;
  if (next === undefined)
    throw refusal(text, 'it names no plugin that it stands before', 'Write one, as in :before=forward.');
  registerPlugin(guardPlugin(definition, next));
}

async function importModule(text: string, specifier: string): Promise<unknown> {
  const path = resolveModule(specifier);
  if (path === undefined)
    throw refusal(
      text,
      `no such module: ${specifier}`,
      `Give a path that begins with / or ./, a package in ${FOLDERS.join(' or ')}, or one that comes with Portolan.`,
    );
  try {
    const { default: module } = (await import(path)) as { readonly default?: unknown };
    // Bundles of servers have `require` for `import()`, which gives all exports where there is no default one.
    return types.isModuleNamespaceObject(module) ? undefined : module;
  } catch (error) {
    const reason = describeError(error);
    throw refusal(text, `${path} cannot be loaded: ${reason}`, findLoadRemedy(path, error));
  }
}

function findLoadRemedy(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.m?ts$/.test(path))
    return 'Compile it to JavaScript, or run Node.js 22.18 or later.';
  return code === 'ERR_REQUIRE_ASYNC_MODULE'
    ? 'Move the await at its top level into start of the plugin.'
    : 'Run it with node to see the whole error.';
}

/** @returns the path of a module; undefined: there is none */
function resolveModule(specifier: string): string | undefined {
  const isPath = isAbsolute(specifier) || /^\.{1,2}\//.test(specifier);
  for (const folder of isPath ? [process.cwd()] : FOLDERS)
    try {
      return createRequire(join(folder, 'package.json')).resolve(isPath ? resolve(specifier) : specifier);
    } catch {
      // The next folder may have it.
    }
  return isPath ? undefined : ownModule(specifier);
}

/** @returns the path of a plugin of our own that comes with the program, `@portolan/NAME` */
function ownModule(specifier: string): string | undefined {
  if (!/^@portolan\/[a-z0-9-]+$/.test(specifier)) return undefined;
  const path = join(packageFolder('dist/plugins'), specifier, 'index.js');
  return existsSync(path) ? path : undefined;
}

function refusal(text: string, fault: string, remedy: string): Error {
  return new Error(`-plugin=${text}: ${fault}\n  ${remedy}`);
}

/**
 * The plugins of all front ends, for plans that mix plugins of a Corefile with our own.
 */
import * as plainDefinitions from '../plugins/plain-plugins.ts';
import { COREFILE_PLUGINS } from '../plugins/registry.ts';
import { createPluginMaker } from './server-blocks/plugin-maker.ts';

export const allPlugins = createPluginMaker([...Object.values(plainDefinitions), ...COREFILE_PLUGINS]);

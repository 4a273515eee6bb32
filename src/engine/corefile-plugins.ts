/**
 * The plugins of Corefiles.
 */
import { COREFILE_PLUGINS } from '../plugins/registry.ts';
import { createPluginMaker } from './server-blocks/plugin-maker.ts';

export const corefilePlugins = createPluginMaker(COREFILE_PLUGINS);

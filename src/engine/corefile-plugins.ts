/**
 * The plugins of Corefiles.
 */
import { findDefinition } from '../plugins/registry.ts';
import { createPluginMaker } from './server-blocks/plugin-maker.ts';

export const corefilePlugins = createPluginMaker(findDefinition);

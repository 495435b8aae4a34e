// The names that 3x-ui has for what this panel knows, for plugins that read its data.
export { withOurNames } from './setting-names.js';

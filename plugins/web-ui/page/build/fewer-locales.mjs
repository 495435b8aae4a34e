// Leaves out the texts of React Aria in languages that the page does not have.
const TEXTS =
  /[/\\](?:@?react-(?:aria|stately)[^/\\]*|@react-(?:aria|stately|spectrum)[/\\][^/\\]+)[/\\].*[/\\]?([a-z]{2}-[A-Z]{2})\.(?:mjs|js|json)$/;
const LANGUAGES = new Set(['en', 'ru', 'zh', 'ar']);

export const fewerLocales = () => ({
  name: 'weir-fewer-locales',
  enforce: 'pre',
  load(id) {
    const locale = TEXTS.exec(id)?.[1];
    if (locale === undefined || LANGUAGES.has(locale.slice(0, 2))) return undefined;
    return { code: 'export default {};', moduleType: 'js' };
  },
});

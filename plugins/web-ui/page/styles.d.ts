declare module '*.css';
declare module '*.json?later' {
  const texts: object;
  export default texts;
}

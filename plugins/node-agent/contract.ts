// What a central needs to compare records with this plugin at its nodes.
export { bucketOf, BUCKETS, digestOf, digestOfAll } from './record-digest.js';

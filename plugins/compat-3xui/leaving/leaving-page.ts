/** What stands in the folder; notes follow. */
export const LEAVING_PAGE = `This folder brings a Weir panel to 3x-ui. It has the credentials of all clients and
private keys of inbounds: keep it private, and delete it when you are done.

Use an empty 3x-ui: inboundIds are the ids that its inbounds get in this order.

 1. inbounds/*.json       one after another, in order: POST panel/api/inbounds/import, form field data.
                          In the page: Inbounds, Import. They bring their clients and counters.
 2. clients/*.json        POST panel/api/clients/import, {"data": "<text of the file>"}. Clients that came
                          with an inbound are skipped; clients without one are created.
 3. attach/*.json         POST panel/api/clients/bulkAttach, where an inbound was too large for step 1.
 4. traffic.jsonl         POST panel/api/clients/updateTraffic/{email}: a line each, {upload, download}.
 5. disabled.json         POST panel/api/clients/bulkDisable.
 6. groups.jsonl          POST panel/api/clients/groups/create.
 7. hosts.jsonl           POST panel/api/hosts/add.
 8. fallbacks.jsonl       POST panel/api/inbounds/{inboundId}/fallbacks, {fallbacks}.
 9. external-links.jsonl  POST panel/api/clients/{email}/externalLinks, {externalLinks}.

Files that are not here have nothing to bring. Notes:

- limitHwid of clients that come with an inbound has to be set again: 3x-ui takes it in step 2 only.
`;

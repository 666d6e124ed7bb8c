import { domains } from '@strongroom/contract'

// What `domain list`, `domain add` and `domain remove` print.

export const domainsShape = domains.list.response.properties.data
export const domainShape = domains.add.response
export const removedShape = domains.remove.response

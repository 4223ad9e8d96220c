// assets: the parts of the what-if page that are the same for every scenario, as text; made
// from reports/page/ and, for the charts, from what the build fetched, by assets.S.
#ifndef PERTOKEN_REPORTS_PAGE_ASSETS_H
#define PERTOKEN_REPORTS_PAGE_ASSETS_H

extern const char page_shell[];    // page.html
extern const char page_style[];    // page.css
extern const char page_script[];   // the scripts, one after another
extern const char page_charts[];   // the charting library; "" when it could not be fetched
extern const char page_licences[]; // its authors' terms

#endif

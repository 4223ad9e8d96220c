// assets: the parts of the what-if page that are the same for every scenario, as text, embedded by
// assets.S from reports/page/ and, for the charts, from what the build fetched.
#ifndef PERTOKEN_REPORTS_PAGE_ASSETS_H
#define PERTOKEN_REPORTS_PAGE_ASSETS_H

extern const char page_shell[];    // page.html
extern const char page_style[];    // page.css
extern const char page_engine[];   // the scripts that a worker runs too, concatenated
extern const char page_script[];   // the others, which come after them
extern const char page_charts[];   // the charting library; "" if it could not be fetched
extern const char page_licences[]; // the license texts of its authors

#endif

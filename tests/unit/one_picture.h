/* A model that describes pictures, of one update, for tests that need any. */
#ifndef ONE_PICTURE_H
#define ONE_PICTURE_H

#include <softalign.h>
#include <stdio.h>

/* Makes a picture of one red pixel in that folder, and trains on it there; both paths are written. */
static inline bool one_picture_model(const char *in, char picture_path[300], char model_path[512]) {
    static const unsigned char png[] = {
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xDE, 0x00, 0x00, 0x00,
        0x0C, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0xF8, 0xCF, 0xC0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xF7,
        0x03, 0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};
    char list[300], run[300]; /* of one line; of the training */
    sa_train_options o;
    snprintf(picture_path, 300, "%s/red.png", in);
    snprintf(model_path, 512, "%s/caption/best.safetensors", in);
    snprintf(list, sizeof list, "%s/pictures", in);
    snprintf(run, sizeof run, "%s/caption", in);
    FILE *picture = fopen(picture_path, "wb"), *lines = fopen(list, "w");
    bool ok =
        picture && lines && fwrite(png, sizeof png, 1, picture) == 1 && fprintf(lines, "%s\n", picture_path) > 0;
    ok = picture && fclose(picture) == 0 && lines && fclose(lines) == 0 && ok;
    if (!ok || sa_train_options_init(&o, "caption", NULL))
        return false;
    o.train_source = o.train_target = o.valid_source = o.valid_target = list;
    o.output = run;
    o.model.picture_side = 16;
    o.model.dim_emb = o.model.dim_rnn = o.model.dim_att = o.model.dim_feature = 8;
    o.after_updates = o.threads = 1;
    return sa_train(&o, NULL, NULL, NULL) == SA_OK;
}

/* Describes and draws it. */
static inline sa_status describe_one_picture(const char *model_path, const char *picture, const char *drawing,
                                             const sa_model_options *how, const sa_translate_options *o,
                                             sa_error *e) {
    sa_model *m = NULL;
    sa_translation *t = NULL;
    sa_status status = sa_model_open_with(&m, model_path, how, e);
    if (status == SA_OK)
        status = sa_translate(m, &picture, 1, o, &t, e);
    const sa_caption_sheet sheet = {
        .pictures = &picture, .captions = t, .references = &picture, .n = 1, .columns = 1};
    if (status == SA_OK)
        status = sa_caption_sheet_write(&sheet, drawing, e);
    sa_translations_free(t, 1);
    sa_model_free(m);
    return status;
}

#endif
